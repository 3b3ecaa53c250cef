# Neither a recording nor a binary format is written to a terminal, import says that it reads
# one, and lost output is a failure.
. "$CLI/lib.sh"
command -v script >/dev/null || skip "script (bsdutils) is not installed"
script -qec "$UNIPROF record -T 1 -o - web" typescript >/dev/null </dev/null
echo "exit code $?"
grep -o "refusing to write a recording to a terminal.*" typescript | tr -d '\r'
for format in pprof perf-data; do
	script -qec "$UNIPROF report --format $format" typescript >/dev/null </dev/null
	echo "exit code $?"
	grep -o "refusing to write.*" typescript | tr -d '\r'
done
echo "== import says that it reads the terminal"
script -qec "$UNIPROF import" typescript >/dev/null </dev/null
grep -o "reading from.*" typescript | tr -d '\r'
"$UNIPROF" --help >/dev/full
echo "exit code $?"
"$UNIPROF" record --help >/dev/full
echo "exit code $?"

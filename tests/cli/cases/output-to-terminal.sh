# A recording is not written to a terminal, and lost output is a failure.
. "$CLI/lib.sh"
command -v script >/dev/null || skip "script (bsdutils) is not installed"
script -qec "$UNIPROF record -T 1 -o - web" typescript >/dev/null </dev/null
echo "exit code $?"
grep -o "refusing to write a recording to a terminal.*" typescript | tr -d '\r'
"$UNIPROF" --help >/dev/full
echo "exit code $?"
"$UNIPROF" record --help >/dev/full
echo "exit code $?"

# A recording is not written to a terminal, and lost output is not called success.
. "$CLI/lib.sh"
command -v script >/dev/null || skip "script (bsdutils) is not installed"
script -qec "$UNIPROF record -T 1 -o - web" typescript >/dev/null </dev/null
echo "exit code $?"
grep -o "a recording is nothing for a terminal.*" typescript | tr -d '\r'
"$UNIPROF" --help >/dev/full
echo "exit code $?"
"$UNIPROF" record --help >/dev/full
echo "exit code $?"

# help and version as words, and what a mistyped command or option was meant to be.
. "$CLI/lib.sh"
"$UNIPROF" help >words && "$UNIPROF" --help >dashes && cmp words dashes && grep -c '^  help ' words
"$UNIPROF" version >words && "$UNIPROF" --version | cmp - words && cat words
for command in $("$UNIPROF" --list-options | cut -f 1 | uniq); do
	"$UNIPROF" help $command >words || echo "help $command: exit code $?"
	"$UNIPROF" $command --help | cmp - words
done

# try WORD...: the error, and the exit code
try()
{
	"$UNIPROF" "$@" 2>&1
	echo "exit code $?"
}
try reprot
try lst
try hlep
try --versoin
try help reprot
try help nothing
try frobnicate
try report --fromat folded
try report --fromat=folded
try record --folow web
try list --helpp
try diff --baseline-symbol-files x
try report --frobnicate
try report -Q
try report "--$(head -c 5000 /dev/zero | tr '\0' x)" | cut -c 1-60

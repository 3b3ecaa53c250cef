# The program without a command: its help, and its errors.
. "$CLI/lib.sh"
"$UNIPROF"
echo "exit code $?"
"$UNIPROF" fly
echo "exit code $?"
"$UNIPROF" --help | head -n 1
"$UNIPROF" --version
for command in record top report diff info import list stack; do
	"$UNIPROF" $command --help >help.txt
	echo "$command: exit code $?, $(head -n 1 help.txt)"
	grep -c '^Exit codes: 0 done' help.txt
done

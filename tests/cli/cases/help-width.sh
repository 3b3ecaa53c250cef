# The output of --help fits a terminal of 80 columns.
. "$CLI/lib.sh"
for command in "" record top report diff info import list stack table flamegraph; do
	"$UNIPROF" $command --help | awk -v name="uniprof $command" '
		length($0) > 80 { print name ": " $0 }
		END { if (NR < 5) print name ": " NR " lines" }'
done

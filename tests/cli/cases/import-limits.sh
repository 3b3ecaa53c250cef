# The longest lines and names, and stacks deeper than the limit of a recording.
. "$CLI/lib.sh"
{
	head -c 65535 /dev/zero | tr '\0' n
	echo ' 1'
	awk 'BEGIN { for (i = 0; i < 1500; i++) printf "f%d;", i; print "leaf 1" }'
	# The longest line: 1,048,576 bytes.
	awk 'BEGIN {
		for (i = 0; i < 32766; i++)
			name = name "x"
		for (i = 0; i < 31; i++)
			printf "%s;", name
		printf "%s%33d\n", name, 2
	}'
} >text
awk '{ print length($0) }' text
import -o a.up text
report -i a.up --format folded >folded
awk '{ print length($0), split($0, frames, ";") }' folded
grep leaf folded | cut -c -20
info a.up | grep 'cut short'

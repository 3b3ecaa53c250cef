# Where a limit of recordings stops an import, the notes about the samples before it stay.
. "$CLI/lib.sh"
{
	echo 'main;work 3 4'
	echo 'main 600000000000000'
	echo 'main 600000000000001'
} | import -o a.up
awk 'BEGIN {
	for (i = 0; i < 65537; i++) {
		event = i % 2 ? "faults" : "cycles"
		printf "web %d [0] 1.0: %s:\n\t10 a\n\nweb %d [0] 1.0: cycles:\n\t10 a\n\n", i, event, i
	}
}' | import -o b.up

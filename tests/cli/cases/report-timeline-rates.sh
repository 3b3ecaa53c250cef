# A cell of the timeline has the colour of its share, whatever the rate: a guest that is
# always busy is one uniform block, also at a reduced rate; blocked time differs from missed
# rounds, which have no samples; and a filter shows as a smaller share.
. "$CLI/lib.sh"
{
	echo "info start 0"
	echo "info frequency 100000"
	echo "domain 0 3 2 1 1 web"
	# 100 a second for a second, then 10 that stand for 10 each for two; a second
	# without any; then blocked for one, and half of the rounds in one more.
	awk 'BEGIN {
		for (i = 1; i <= 100; i++)
			printf "sample %d0000000 0 1 0 0x1004 0x1108\n", i
		print "weight 10"
		for (i = 110; i <= 300; i += 10)
			printf "sample %d0000000 0 1 0 0x1004 0x1108\n", i
		print "weight 1"
		for (i = 401; i < 500; i++)
			printf "sample %d0000000 0 3 0 0x1104\n", i
		for (i = 500; i < 600; i++)
			printf "sample %d0000000 0 %d 0 0x1004\n", i, i % 2 ? 3 : 1
	}'
	echo "end 1 6000000000"
} | "$MAKE_RECORDING" >rates.up
# cells OPTION...: the number of cells of each colour, per second
cells()
{
	report -i rates.up --format timeline "$@" 2>/dev/null | perl -ne '
		$level = $1 if /class="(h\d)"/;
		while (/M(\d+) \d+h1v(\d*)/g) { $cells{$1}{$level} += length $2 ? $2 : 1 }
		END { for $s (sort { $a <=> $b } keys %cells) {
			print "second $s:", (map { " $_ $cells{$s}{$_}" } sort keys %{$cells{$s}}), "\n" } }'
}
echo "# samples"
cells
echo "# only those that were blocked"
cells --state blocked
echo "# only those with one caller"
cells --parent middle -s "$data/web.sym"
echo "# time"
cells --weight wall
echo "notes on names, which it does not show:"
"$UNIPROF" report -i rates.up --format timeline 2>&1 >/dev/null | grep -c "no name"
"$UNIPROF" report -i rates.up 2>&1 >/dev/null | grep -c "no name"

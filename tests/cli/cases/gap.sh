# A chain whose middle was left out has one frame there, "[...]", in every output, also after
# an import. The symbols' last one, which has no end, does not name it.
. "$CLI/lib.sh"
{
	echo "info start 1000000000"
	echo "info frequency 99000"
	echo "domain 0 3 2 1 1 web"
	echo "sample 1010000000 0 1 0 0x1004 0x1108 0x1120 0x4fffffffffffffff 0x1120 0x1208"
	echo "sample 1020000000 0 1 0 0x1004 0x1108 0x1208"
	echo "end 1 2000000000"
} | "$MAKE_RECORDING" >gap.up
printf '%s\n' '1000 T leaf' '1100 T map' '1200 T main' >gap.sym
show()
{
	report -i "$@" 2>/dev/null
}
echo "# without symbols"
show gap.up --format folded
echo "# histogram"
show gap.up -s gap.sym --format histogram-csv | cut -d, -f 1,2,4
echo "# tree"
show gap.up -s gap.sym --tree | grep -v '^#' | sed 's/ *$//'
echo "# texts: what is imported is the same"
for format in folded perf-script; do
	show gap.up -s gap.sym --format $format >$format
	import -o again.up <$format 2>/dev/null
	show again.up --format $format | diff $format - && cat $format
done
echo "# files that contain it"
for format in flamegraph speedscope callgrind histogram-json; do
	show gap.up -s gap.sym --format $format | grep -cF '[...]' >count
	[ "$(cat count)" -gt 0 ] && echo $format
done
show gap.up -s gap.sym --format pprof | gzip -dc | grep -acF '[...]'
echo "# diff"
"$UNIPROF" diff -s gap.sym --format folded gap.up again.up 2>/dev/null

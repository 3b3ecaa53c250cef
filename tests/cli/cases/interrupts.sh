# Between the handler of an interrupt and what it interrupted is a mark, in every text also after
# an import, and the interrupted instruction is named, even the first one of a function.
# --no-interrupts leaves handlers out, nested ones too.
. "$CLI/lib.sh"
mark=0x4ffffffffffffffd
{
	echo "info start 1000000000"
	echo "info frequency 99000"
	echo "domain 0 3 2 1 1 web"
	echo "sample 1010000000 0 1 0 0x2004 0x2108 $mark 0x1001 0x1208"
	echo "sample 1020000000 0 1 0 0x2004 0x2108 $mark 0x2011 0x2108 $mark 0x1101 0x1208"
	echo "sample 1030000000 0 1 0 0x1100 0x1208"
	echo "sample 1040000000 0 1 0 0x2004 0x2108 $mark"
	echo "end 1 2000000000"
} | "$MAKE_RECORDING" >interrupts.up
printf '%s\n' '0f00 T before' '1000 T leaf' '1100 T map' '1200 T main' '2000 T handler' \
	'2100 T entry' >interrupts.sym
show()
{
	report -i "$@" 2>/dev/null
}
echo "# without symbols"
show interrupts.up --format folded
echo "# texts: what is imported is the same"
for format in folded perf-script; do
	show interrupts.up -s interrupts.sym --format $format >$format
	import -o again.up <$format 2>/dev/null
	show again.up --format $format | diff $format - && cat $format
done
for option in '' '--max-depth 1' '--parent entry'; do
	echo "# --no-interrupts $option"
	# shellcheck disable=SC2086 # words
	show interrupts.up -s interrupts.sym --format folded --no-interrupts $option
done

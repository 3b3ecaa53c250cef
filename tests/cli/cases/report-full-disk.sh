# Every format reports a full disk as the reason, however it writes.
. "$CLI/lib.sh"
[ -c /dev/full ] || skip "there is no /dev/full"
make_plain
for format in $(report_formats); do
	"$UNIPROF" report -i big.up -s big.sym --format $format -o /dev/full 2>err
	echo "$format: $? $(tail -n 1 err)"
done
"$UNIPROF" report -i big.up -s big.sym --format perf-data 2>&1 >/dev/full | tail -n 1
# A pipe needs a temporary file, on another disk. A size limit, which does not apply to pipes,
# stands for a full one.
trap '' XFSZ
ulimit -f 8
"$UNIPROF" report -i big.up -s big.sym --format perf-data 2>err | wc -c
tail -n 1 err
"$UNIPROF" diff -s big.sym --format folded big.up big.up 2>err | wc -c
tail -n 1 err

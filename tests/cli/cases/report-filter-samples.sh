# --time and --vcpu give the same as filtering the samples of perf-script; percentages are
# of the length of the recording (5 s), and its slices add up to the whole.
. "$CLI/lib.sh"
make_plain

# events OPTION...: time (in us), ids, vCPU and CPU time of each sample
events()
{
	"$UNIPROF" report --format perf-script --weight cpu-time "$@" 2>/dev/null |
		awk '/clock: $/ {
			split($4, time, /[.:]/)
			print time[1] * 1000000 + time[2], $2, substr($3, 2, 3) + 0, $5
		}'
}

events big.up >all
awk '$1 >= 1200001 && $1 < 1500001' all >wanted
events --time 1.2,1.5 big.up | cmp - wanted && wc -l <wanted
events --time 24%,30% big.up | cmp - wanted
events --time 1.2,30% big.up | cmp - wanted
awk '$1 < 1500001' all >wanted
events --time ,1.5 big.up | cmp - wanted && wc -l <wanted
# Through a pipe, too.
cat big.up | events --time ,1.5 - | cmp - wanted
awk '$1 >= 4000001' all >wanted
events --time 80%, big.up | cmp - wanted && wc -l <wanted
{
	events --time ,10% big.up
	events --time 10%,33.3% big.up
	events --time 33.3%,100% big.up
} | sort >slices
sort all | cmp - slices && echo "slices are the whole"
awk '$3 == 1 || $3 == 3' all >wanted
events --vcpu 1,3-5 big.up | cmp - wanted && wc -l <wanted
awk '($3 == 1 || $3 == 3) && $1 >= 1200001' all >wanted
events --vcpu 1,3 --time 1.2, big.up | cmp - wanted && wc -l <wanted
report --vcpu 8191 --format folded big.up
cat big.up | report --time 10%, -
# The file that is standard input has a length.
report --time 10%, --format folded - <big.up 2>/dev/null | wc -l
# A recording whose start is lost starts with its first sample.
echo "sample 7000000000 0 1 0 0x1
sample 8000000000 0 1 0 0x2
sample 9000000000 0 1 0 0x3
end 1 11000000000" | "$MAKE_RECORDING" |
	tail -c +30 | report --time 1,2 --format folded - 2>/dev/null
# By the clock, in the local time zone: a recording from 23:59:58 to 00:00:03 in TZ, with a
# sample each second.
{
	echo "info wall-start $(($(date -u -d '2026-11-22 22:59:58' +%s) * 1000000000))"
	echo "info start 5000000000
domain 0 1 2 1 1 web"
	for second in 0 1 2 3 4; do
		echo "sample $((5500000000 + second * 1000000000)) 0 1 0 0x$second"
	done
	echo "end 1 10000000000"
} | "$MAKE_RECORDING" >night.up
export TZ=CET-1
for time in 23:59:59,00:00:01 23:59,23:59:59 "00:00," ",00:00" 00:00:00.4,00:00:00.6 \
	2026-11-22T23:59:59,2026-11-23T00:00:01 2026-11-22T22:59:59Z,00:00:01 20%,00:00 \
	12:00,13:00; do
	echo "$time: $("$UNIPROF" report --time "$time" --format folded night.up 2>&1 | grep -v "note: 100" | tr "\n" " ")"
done
cat night.up | report --time 23:59:59,00:00:01 --format folded -
cat night.up | report --time 23:59, --format folded -
# big.up does not say when it started.
report --time 14:03:20, --format folded big.up
report --time ,2026-11-22T14:03 --format folded big.up

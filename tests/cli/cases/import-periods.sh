# Samples are weighted by their periods if these differ, and count 1 each if they are all
# the same; CPU time survives the round trip.
. "$CLI/lib.sh"
sample()
{
	printf 'web 1 [000] 1.0: %s %s:\n\t10 %s\n\t20 main\n\n' "$@"
}
try()
{
	import -o a.up
	report -i a.up --format folded
}
{ sample 250000 cycles a; sample 250000 cycles b; sample 250000 cycles a; } | try
{ sample 1 cycles a; sample 250000 cycles b; sample 3 cycles a; } | try
echo "# CPU time: in us as samples, and as CPU time in any case"
{ sample 250000 task-clock a; sample 4001000 task-clock:u b; } >clock
{ sample 250000 task-clock a; sample 4001000 task-clock b; } >>clock
try <clock
report -i a.up --format folded --weight cpu-time
{ sample 250000 task-clock a; sample 250000 task-clock b; } | try
report -i a.up --format folded --weight cpu-time
echo "# periods whose sum is too large for weights are scaled: 2,000 times 10^13"
awk 'BEGIN { for (i = 0; i < 1999; i++)
	printf "web 1 [000] %d.0: 10000000000000 cycles:\n\t10 a\n\n", i
	print "web 1 [000] 2000.0: 20000000000000 cycles:\n\t10 b\n\n" }' >large
try <large
info a.up | grep -E '^  (samples|weight) '
sample 18446744073709551615 cycles a | try
echo "# round trip: the stacks and sums of CPU time"
make_big
report -i big.up -s big.sym --weight cpu-time --format folded >wanted
report -i big.up -s big.sym --weight cpu-time --format perf-script | import -o again.up
for weight in samples cpu-time; do
	report -i again.up --weight $weight --format folded | diff wanted - &&
		echo "$weight: the same $(wc -l <wanted) stacks"
done

# Importing the perf-script text of a recording gives the same stacks and text, now with
# names and without a symbol file.
. "$CLI/lib.sh"
make_recording web odd boundary recursion plain
for name in web odd boundary recursion plain; do
	report -i $name.up -s "$data/$name.sym" --format folded >$name.folded 2>$name.err
	report -i $name.up -s "$data/$name.sym" --format perf-script >$name.txt \
		2>$name.err
	import -o $name.again <$name.txt
	report -i $name.again --format folded 2>$name.err | diff $name.folded - &&
		report -i $name.again --format perf-script 2>$name.err |
		diff $name.txt - && echo "$name: $(wc -l <$name.folded) stacks"
done
{
	echo "info start 1000"
	echo "domain 0 5 2 1 4 big"
	echo "many 20000 500 10 40"
	echo "end 1 90000000000"
} | "$MAKE_RECORDING" >big.up
awk 'BEGIN { for (i = 0; i < 30; i++)
	printf "%016x 0000000000000100 T function_%d\n", 1048576 + i * 256, i }' >big.sym
report -i big.up -s big.sym --format folded >big.folded 2>big.err
report -i big.up -s big.sym --format perf-script 2>big.err | import -o - |
	report -i - --format folded 2>big.err | diff big.folded - &&
	echo "big: $(wc -l <big.folded) stacks"

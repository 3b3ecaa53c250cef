# The exact output of call trees; rows below the limit are omitted.
. "$CLI/lib.sh"
make_recording web two
report --tree -s "$data/web.sym" web.up 2>/dev/null
report --tree --invert -s "$data/web.sym" web.up 2>/dev/null
report --format tree --percent-limit 20% -s "$data/web.sym" web.up 2>/dev/null
report --tree --symbol-filter leaf -s "$data/web.sym" web.up 2>/dev/null
report --tree --weight wall --state busy -s "$data/plain.sym" two.up 2>/dev/null
report --tree --vcpu 7 -s "$data/plain.sym" two.up 2>/dev/null
# 0.5 % is shown, less is omitted.
{
	i=0
	while [ $i -lt 200 ]; do
		echo "sample $((1000000 + i)) 0 1 0 0x1004 0x1208"
		i=$((i + 1))
	done
} >many.txt
{
	sed 1,3d many.txt
	echo "sample 2000000 0 1 0 0x1300 0x1208"
	echo "weight 2"
	echo "sample 2000000 0 1 0 0x1104 0x1208"
} | "$MAKE_RECORDING" | report --tree -s "$data/web.sym" - 2>/dev/null
{
	cat many.txt
	echo "sample 2000000 0 1 0 0x1300 0x1208"
} | "$MAKE_RECORDING" | report --tree -s "$data/web.sym" - 2>/dev/null

# A guest that is idle except for short bursts: its CPU time does not go to the idle loop.
# CPU time of a vCPU that was never sampled running is skipped, with a note.
. "$CLI/lib.sh"
{
	echo "domain 0 1 2 1 2 idle"
	echo "cpu-time 0"
	echo "sample 1000000 0 3 0 0x1300 0x1208"
	echo "sample 1000000 1 3 0 0x1300"
	echo "cpu-time 300000"
	i=2
	while [ $i -lt 100 ]; do
		if [ $((i % 10)) -eq 0 ]; then
			echo "sample ${i}000000 0 1 0 0x1004 0x1108"
		else
			echo "sample ${i}000000 0 3 0 0x1300 0x1208"
		fi
		i=$((i + 1))
	done
	echo "sample 100000000 1 3 0 0x1300"
	echo "end 1 200000000"
} | "$MAKE_RECORDING" >idle.up
for weight in samples cpu-time; do
	report -i idle.up --format folded -s "$data/web.sym" --weight $weight
done
info idle.up | grep 'CPU time' -A 2
report -i idle.up --format folded -s "$data/web.sym" --weight cpu-time --state blocked

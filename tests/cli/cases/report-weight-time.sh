# The weight of samples: 1, their CPU time, or the time since the last sample of the vCPU,
# which may also be one that --state filters out.
. "$CLI/lib.sh"
make_recording two
for weight in samples cpu-time wall; do
	for state in all running runnable busy blocked; do
		echo "$weight, $state"
		report -i two.up --format folded -s "$data/plain.sym" --domain web \
			--weight $weight --state $state
	done
done
for format in histogram histogram-csv; do
	report -i two.up --format $format --per-vcpu -s "$data/plain.sym" \
		--domain web --weight cpu-time
done
report -i two.up -s "$data/plain.sym" --weight wall --state blocked
report -i two.up -s "$data/plain.sym" --domain web --state running
report -i two.up --format histogram-json --per-vcpu -s "$data/plain.sym" \
	--weight wall | sed -n '/"wall_us"/,$p'
report -i two.up --format perf-script -s "$data/plain.sym" --weight cpu-time
report -i two.up --format perf-script -s "$data/plain.sym" --weight wall \
	--state blocked

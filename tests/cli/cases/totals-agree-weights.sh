# Every output has the same total, for each weight and domain; the states add up to the
# whole, and no time is lost or counted twice.
# Not with sanitizers: other cases use each weight, and write each output, with them.
. "$CLI/lib.sh"
{
	begin_big
	echo "many 3000 500 10 40"
	i=0
	while [ $i -lt 200 ]; do
		echo "sample $((5000000000 + i * 33333)) $((i % 3)) $((i % 5)) 0 0x100001"
		i=$((i + 1))
	done
	echo "end 1 90000000000"
} | "$MAKE_RECORDING" >big.up
name_big

for weight in samples cpu-time wall; do
	for domain in big small big,small; do
		for state in all running runnable busy blocked; do
			echo $weight $domain $state \
				$(totals --weight $weight --state $state \
					--domain $domain | uniq -c)
		done
	done
done
# From the first sample of each vCPU to its last.
"$UNIPROF" report -i big.up --format perf-script 2>/dev/null | awk '
	/clock: $/ {
		time = substr($4, 1, length($4) - 1)
		if (!($2 in first))
			first[$2] = time
		last[$2] = time
	}
	END { for (v in first) sum += last[v] - first[v]; printf "%d\n", sum * 1000000 + 0.5 }'

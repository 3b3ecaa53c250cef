# Every output counts the same, whatever samples count for and of whichever domains;
# the states add up to all, and no time is lost or counted twice.
. "$CLI/lib.sh"
{
	echo "info start 1000"
	echo "domain 0 1 2 1 4 big"
	echo "domain 1 2 2 1 4 small"
	echo "cpu-time 400000"
	echo "many 20000 500 10 40"
	echo "in 1"
	echo "cpu-time 300000"
	echo "many 3000 500 10 40"
	i=0
	while [ $i -lt 200 ]; do
		echo "sample $((5000000000 + i * 33333)) $((i % 3)) $((i % 5)) 0 0x100001"
		i=$((i + 1))
	done
	echo "end 1 90000000000"
} | "$MAKE_RECORDING" >big.up
awk 'BEGIN { for (i = 0; i < 30; i++)
	printf "%016x 0000000000000100 T function_%d\n", 1048576 + i * 256, i }' >big.sym

# totals OPTION...: what each output comes to, in samples or us
totals()
{
	for format in folded perf-script histogram histogram-csv histogram-json; do
		"$UNIPROF" report -i big.up -s big.sym --format $format "$@" \
			>$format 2>/dev/null || echo "$format failed"
	done
	awk '{ sum += $NF } END { print sum + 0 }' folded
	awk '/clock: $/ { sum += $5 > 1 ? $5 / 1000 : 1 } END { print sum + 0 }' perf-script
	awk '!/^#/ { sum += $2 == "ms" ? $1 * 1000 : $1 } END { printf "%d\n", sum + 0.5 }' \
		histogram
	awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^self(_us)?$/) self = i }
		NR > 1 { sum += $self } END { print sum + 0 }' histogram-csv
	sed -n 's/^\t"\(samples\|cpu_time_us\|wall_us\)": \([0-9]*\),$/\2/p' histogram-json
	"$UNIPROF" report -i big.up -s big.sym --format histogram-csv --per-vcpu "$@" \
		2>/dev/null | awk -F , '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^vcpu/) cells[i] }
		NR > 1 { for (i in cells) sum += $i } END { print sum + 0 }'
}

for weight in samples cpu-time wall; do
	for domain in big small big,small; do
		for state in all running runnable blocked; do
			echo $weight $domain $state \
				$(totals --weight $weight --state $state \
					--domain $domain | uniq -c)
		done
	done
done
# From each vCPU's first sample to its last one.
"$UNIPROF" report -i big.up --format perf-script 2>/dev/null | awk '
	/clock: $/ {
		time = substr($4, 1, length($4) - 1)
		if (!($2 in first))
			first[$2] = time
		last[$2] = time
	}
	END { for (v in first) sum += last[v] - first[v]; printf "%d\n", sum * 1000000 + 0.5 }'

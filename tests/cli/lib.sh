# SPDX-License-Identifier: BSD-3-Clause
# What the cases share.

data=$CLI/data

# make_recording NAME...: makes NAME.up of data/NAME.txt
make_recording()
{
	for name; do
		"$MAKE_RECORDING" <"$data/$name.txt" >"$name.up" || exit 1
	done
}

# report OPTION...: uniprof report, and its exit code when that is not 0
report()
{
	"$UNIPROF" report "$@" || echo "exit code $?"
}

info()
{
	"$UNIPROF" info "$@" || echo "exit code $?"
}

# skip REASON: leaves the case, as it can't be run here
skip()
{
	echo "$*"
	exit 77
}

# make_big: big.up, 20,000 samples of "big" on vCPUs 0 to 3 and 3,000 of "small", in
# 500 chains of 30 functions each, of which big.sym names all but the last ten
make_big()
{
	{
		echo "info start 1000"
		echo "domain 0 1 2 1 4 big"
		echo "domain 1 2 2 1 4 small"
		echo "cpu-time 400000"
		echo "many 20000 500 10 40"
		echo "in 1"
		echo "cpu-time 300000"
		echo "many 3000 500 10 40"
		echo "end 1 5000001000"
	} | "$MAKE_RECORDING" >big.up
	awk 'BEGIN { for (i = 0; i < 30; i++)
		printf "%016x 0000000000000100 T function_%d\n", 1048576 + i * 256, i }' \
		>big.sym
}

# totals OPTION...: what each output makes big.up come to, in samples or us
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

# Enough functions and call chains to make every table grow more than once.
. "$CLI/lib.sh"
awk 'BEGIN {
	print "domain 0 1 2 1 4 big"
	print "domain 1 2 2 1 4 bigger"
	for (i = 0; i < 20000; i++) {
		if (i % 10000 == 0)
			print "in " i / 10000
		printf "sample %d %d 1 0 %d %d\n", i, i % 4, 65536 + i * 16 + 4, 4100
	}
	print "end 1 90000000000"
}' | "$MAKE_RECORDING" >big.up
awk 'BEGIN { printf "1000 T main\n2000 D data\n"
	for (i = 0; i < 20000; i++) printf "%x T function_%d\n", 65536 + i * 16, i }' \
	>big.sym
report -i big.up -s big.sym --format histogram-csv --per-vcpu |
	awk -F , 'NR > 1 { rows++; self += $3; total += $5; cells += $7 + $8 + $9 + $10 }
		END { print rows, self, total, cells }'
report -i big.up -s big.sym --format folded | awk '{ sum += $NF } END { print NR, sum }'
report -i big.up -s big.sym --format perf-script | grep -c 'function_19999+0x4 '

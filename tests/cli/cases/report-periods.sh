# A sample with a weight is one record for perf, with the weight as its period: the size of
# the output does not depend on it, and the tools' sums still match ours.
. "$CLI/lib.sh"
need_perf
"$MAKE_RECORDING" >heavy.up <<END
info start 1000
domain 0 5 2 1 1 heavy
weight 90000
sample 2000 0 1 0 0x1004 0x1108
weight 10000
sample 3000 0 1 0 0x1104 0x1208
end 1 9000
END
printf 'a;b;c 100000000\na;b 25000000\n' | import -o counts.up 2>/dev/null
for name in heavy counts; do
	echo "# $name"
	report -i $name.up --format folded -s "$data/web.sym" 2>/dev/null |
		awk '{ sum += $NF } END { printf "folded %.0f\n", sum }'
	report -i $name.up --format perf-script -s "$data/web.sym" 2>/dev/null >script
	awk '/clock: $/ { n++; sum += $5 } END { printf "perf-script %.0f\n", sum }' script
	report -i $name.up --format perf-data -o perf.data 2>/dev/null
	perf script -F period | awk '{ sum += $1 } END { printf "perf script %.0f\n", sum }'
	perf report --stdio --no-children -g none --sort comm --show-total-period |
		awk '!/^#/ && NF { printf "perf report %.0f\n", $2 }'
	[ $(($(wc -c <script) + $(wc -c <perf.data))) -lt 1000000 ] && echo "small"
done
report -i heavy.up --format perf-data -o perf.data 2>/dev/null
perf report --stdio --no-children -g none --sort sym | awk '!/^#/ && NF { print $1 }'

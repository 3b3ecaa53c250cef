# The largest weights, at the lowest rate, in every output and sum.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >large.up <<END
info frequency 1
domain 0 1 2 1 1 large
weight 4294967295
sample 2000 0 1 0 0x1004 0x1108
sample 3000000000 0 1 0 0x1104
sample 9000000000 0 3 0 0x1104
end 1 9000000000
END
for format in folded histogram-csv perf-script; do
	report -i large.up --format $format -s "$data/plain.sym"
done
info large.up | grep -A 2 '^Samples'
report -i large.up --format timeline | sed -n 's/.*dx="6">\([^<]*\)<.*/\1/p'

# A sample that stands for several counts as several everywhere; for perf, as its period.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >weight.up <<END
domain 0 1 2 1 1 weight
sample 2000 0 1 0 0x1004 0x1108
weight 3
sample 3000 0 1 0 0x1104
end 1 4000
END
for format in folded histogram-csv perf-script; do
	report -i weight.up --format $format -s "$data/plain.sym"
done
info weight.up | grep -A 2 '^Samples'

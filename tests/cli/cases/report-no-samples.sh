# A recording without samples is valid, and its report is empty.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >none.up <<END
domain 0 1 2 1 1 none
end 1 4000
END
for format in folded perf-script histogram histogram-csv histogram-json; do
	report -i none.up --format $format -s "$data/plain.sym"
done

# Names with separators, quotes and terminal control bytes break no format.
. "$CLI/lib.sh"
make_recording odd
for format in folded perf-script histogram histogram-csv histogram-json; do
	report -i odd.up --format $format -s "$data/odd.sym"
done

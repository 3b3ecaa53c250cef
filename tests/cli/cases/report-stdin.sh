# A recording that comes through a pipe gives what the file gives.
. "$CLI/lib.sh"
make_recording web
for format in folded perf-script histogram histogram-csv histogram-json; do
	report -i web.up --format $format -s "$data/web.sym" >file 2>/dev/null
	cat web.up | report -i - --format $format -s "$data/web.sym" >pipe 2>/dev/null
	cmp file pipe && echo "$format: the same"
done

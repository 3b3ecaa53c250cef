# A recording read from a pipe gives the same report as the file.
. "$CLI/lib.sh"
make_recording web
for format in folded perf-script histogram histogram-csv histogram-json; do
	report -i web.up --format $format -s "$data/web.sym" >file 2>/dev/null
	cat web.up | report -i - --format $format -s "$data/web.sym" >pipe 2>/dev/null
	cmp file pipe && echo "$format: the same"
done

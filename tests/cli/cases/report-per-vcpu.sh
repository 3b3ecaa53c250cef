# All histogram formats can have a column for each vCPU.
. "$CLI/lib.sh"
make_recording web
for format in histogram histogram-csv histogram-json; do
	report -i web.up --format $format -s "$data/web.sym" --per-vcpu 2>/dev/null
done

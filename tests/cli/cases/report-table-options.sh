# The rows that tables omit, and the base of their percentages.
. "$CLI/lib.sh"
make_recording web
for format in histogram histogram-csv; do
	report -s "$data/web.sym" --format $format --no-children web.up 2>/dev/null
	report -s "$data/web.sym" --format $format --percent-limit 50 web.up 2>/dev/null
	report -s "$data/web.sym" --format $format --no-children --per-vcpu \
		--percent-limit 10.5% web.up 2>/dev/null
	report -s "$data/web.sym" --format $format --symbol-filter '^(mi|un)' web.up \
		2>/dev/null
	report -s "$data/web.sym" --format $format --parent '^main$' web.up 2>/dev/null
	report -s "$data/web.sym" --format $format --max-depth 1 web.up 2>/dev/null
done
report -s "$data/web.sym" --time 3%,10% web.up 2>/dev/null
report -s "$data/web.sym" --format histogram-json --no-children \
	--symbol-filter leaf web.up 2>/dev/null | sed -n '/"samples"/,$p'

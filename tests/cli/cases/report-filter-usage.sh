# Invalid filters: one line, exit code 2.
. "$CLI/lib.sh"
report --parent '('
report --symbol-filter 'a[' --format folded
report --symbol-filter 'a{2'
for time in '' ',' 1 2,1 1,1 '20%,10%' 1,2,3 '101%,' ',-1' 'a,b' '1s,2s' ',%' '24:00,' '14:00,14:00' \
	'2026-11-31T14:00,' '2026-11-22T14:00,2026-11-22T13:00'; do
	report --time "$time"
done
report --vcpu 8192
report --vcpu 1-
report --max-depth 0
report --max-depth 1025
report --percent-limit 101
report --percent-limit %
report --format folded --percent-limit 1
report --format folded --no-children
report --format perf-script --invert
report --invert

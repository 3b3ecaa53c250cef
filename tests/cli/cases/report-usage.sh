# Wrong usage: one line, exit code 2.
. "$CLI/lib.sh"
report --nonsense
report -x
report -xv
report -i
report --format
report --format bad
report --format flmaegraph
for format in flam json csv svg browsers; do
	report --format $format
done
report --verbose=1
report -i - -
report --format folded --per-vcpu
report --weight
report --weight period
report --state idle
report --domain

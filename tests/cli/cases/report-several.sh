# One report of several recordings: domains with one host and name are merged, domains of
# other hosts are not; damage is reported for each recording; time intervals don't span
# recordings.
. "$CLI/lib.sh"
make_recording web two damage
sed 's/^info wall-start.*/info wall-start 1800000000000000000/' "$data/web.txt" |
	"$MAKE_RECORDING" >again.up
sed 's/xen1/xen2/' "$data/web.txt" | "$MAKE_RECORDING" >other.up
echo "the same host"
report -s "$data/web.sym" web.up again.up 2>/dev/null
report -s "$data/web.sym" --format folded -i web.up -i again.up 2>/dev/null
echo "two hosts"
report -s "$data/web.sym" --format folded web.up other.up again.up 2>/dev/null
report -s "$data/web.sym" web.up other.up again.up 2>/dev/null
echo "one of them"
report -s "$data/web.sym" --format folded --domain xen2/web web.up other.up 2>/dev/null
echo "both"
report -s "$data/web.sym" --format folded --domain web web.up other.up 2>/dev/null
report --domain xen3/web --format folded web.up other.up
echo "symbols of one"
report -s "$data/web.sym,domain=xen2/web" --format folded web.up other.up 2>/dev/null
echo "what is true of both"
for second in again other; do
	report --format flamegraph web.up $second.up 2>/dev/null |
		grep -o '20 samples in.*<'
	report --format histogram-json web.up $second.up 2>/dev/null |
		grep -e '"host"' -e '"hypervisor"'
done
echo "a pipe, whose host is not known before"
report -s "$data/web.sym" --format folded - web.up <web.up 2>/dev/null
cat web.up | report -s "$data/web.sym" --format folded web.up - 2>/dev/null
echo "one after the other"
report -s "$data/web.sym" --format perf-script other.up web.up 2>/dev/null | grep clock:
report -s "$data/web.sym" --weight wall web.up again.up 2>/dev/null
report -s "$data/web.sym" --time ,4% --format folded web.up again.up 2>/dev/null
echo "damage"
head -c 330 damage.up >cut.up
head -c 485 web.up >short.up
report -s "$data/web.sym" --format folded short.up cut.up web.up
report -s "$data/web.sym" --format folded web.up cut.up
report web.up missing.up
cp "$data/web.sym" .
report web.up web.sym
report -o again.up web.up again.up
report --weight cpu-time two.up web.up
report --format timeline web.up again.up

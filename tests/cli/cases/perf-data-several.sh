# Domains of two hosts with the same id are two processes for perf, in its own file as in
# its text.
. "$CLI/lib.sh"
need_perf
make_recording web
sed 's/xen1/xen2/' "$data/web.txt" | "$MAKE_RECORDING" >other.up
processes()
{
	awk '/clock: *$/ { print $1, $2 }' | sort | uniq -c
}
report --format perf-data -o perf.data web.up other.up 2>/dev/null
perf script -i perf.data 2>/dev/null | sed 's,\([0-9]\)/ *\([0-9]\),\1/\2,' >data.txt
perf script -i perf.data -F comm,pid,tid 2>/dev/null | awk 'NF > 1' | sort | uniq -c |
	awk '{ print $1, $2, $3 }'
report --format perf-script web.up other.up 2>/dev/null | processes | awk '{ print $1, $2, $3 }'

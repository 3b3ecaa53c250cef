# What samples by an event of the CPU count is what every output counts, and calls by its name.
. "$CLI/lib.sh"
make_event_recording()
{
	"$MAKE_RECORDING" >"$1.up" <<END
info event $2
info frequency 99000
domain 0 7 4 1 1 web
at-events
weight 3000000
sample 1000000 0 1 0 0x1004 0x1108
weight 1000000
sample 2000000 0 1 0 0x1104
end 1 4000000
END
}

make_event_recording cycles cycles:G
make_event_recording misses r4064:G
for format in folded histogram tree perf-script markdown histogram-json callgrind; do
	echo "== $format"
	report -i cycles.up --format $format -s "$data/plain.sym"
done | grep -vE '^(creator|cmd|pid):'
echo "== info"
info cycles.up | grep -E 'weight|sampled'
echo "== pprof"
report -i cycles.up --format pprof -s "$data/plain.sym" -o cycles.pb.gz
go tool pprof -top cycles.pb.gz 2>&1 | grep -vE '^(File|Time)'
echo "== perf.data"
report -i cycles.up --format perf-data -o perf.data
od -An -td4 -j104 -N4 perf.data
od -An -td8 -j112 -N8 perf.data
perf report -i perf.data --stdio 2>/dev/null | grep -v '(Tip:' | grep 'event'
echo "== the page"
report -i cycles.up --format html | grep -c 'data-part'
echo "== time is time"
report -i cycles.up --weight wall --format histogram | head -n 2
echo "== several events"
report -i cycles.up -i misses.up --format folded 2>&1
report -i cycles.up -i misses.up --format histogram 2>&1 | head -n 1

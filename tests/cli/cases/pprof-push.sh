# The example in docs/databases.md that sends a profile over HTTP, to a server that decodes it.
. "$CLI/fleet.sh"
for program in curl jq python3; do
	command -v $program >/dev/null || skip "$program is not installed"
done
make_fleet
use_uniprof
start_ingest 4
run_section Pyroscope "s,http://pyroscope:4040,$url,"

# The server refuses wrong requests: no profile; no labels of the host; another time.
: >xen1.pb.gz
push()
{
	curl -sS --fail --data-binary @xen1.pb.gz \
		"$url/ingest?name=uniprof&format=pprof&$1" 2>/dev/null || echo "curl: exit code $?"
}
push "$time"
report -s web.elf --format pprof -o xen1.pb.gz xen1.data xen2.data
push "$time"
report -s web.elf --format pprof -o xen1.pb.gz xen1.data
push "from=1795305600&until=1795305604"
end_ingest

# The example in docs/databases.md that sends profiles of OpenTelemetry, to a server that decodes
# them and checks them by the schema.
. "$CLI/fleet.sh"
for program in curl python3; do
	command -v $program >/dev/null || skip "$program is not installed"
done
make_fleet
use_uniprof
start_ingest 4
run_section OpenTelemetry "s,http://collector:4318,$url,"

send()
{
	curl -sS --fail -H "Content-Type: application/$1" --data-binary @xen1.otlp \
		"$url/v1development/profiles" 2>/dev/null || echo "curl: exit code $?"
}
report -s web.elf --format otlp -o xen1.otlp --weight wall xen1.data xen2.data
send x-protobuf
# The server refuses another type, and a profile that is cut.
send json
truncate -s -10 xen1.otlp
send x-protobuf
end_ingest

# Speedscope's own importer reads what --format speedscope writes, which is what its
# schema says, and what perf-script, callgrind and pprof write.
. "$CLI/lib.sh"
need_modules speedscope ajv
make_recording web two
report -i two.up --format speedscope -s "$data/web.sym"
for weight in samples cpu-time wall; do
	report -i two.up --format speedscope -s "$data/web.sym" --weight $weight \
		-o two-$weight.json 2>/dev/null
done
speedscope two-samples.json two-cpu-time.json two-wall.json
echo "== other formats"
# Speedscope takes each sample of perf's to last until the next sample of its thread.
for format in perf-script callgrind pprof; do
	report -i web.up --format $format -s "$data/web.sym" -o web.$format 2>/dev/null
done
speedscope web.perf-script web.callgrind web.pprof

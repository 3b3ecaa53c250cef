# What threads waited for, by time: a wait that goes on is written again when it is over, and else
# ends with the recording. If what ended it was lost, it ended when the thread waited again, or before:
# only what is known of it counts.
. "$CLI/lib.sh"
cat >web.sym <<END
1000 T futex_wait
1100 T do_read
1200 T worker
1300 T main
1400 T idle_worker
1500 D data
END
"$MAKE_RECORDING" >waits.up <<END
info start 1000000000
domain 0 1 4 1 2 web
space 0x9000
process 10 nginx
thread 10 nginx
sample 1000001000 0 1 0 0x1304
wait 1000000000 1100000000 1 0 0x1004 0x1304
wait 1100000000 0 2 0 0x1104 0x1304
thread 11 pool
wait 1000000000 1000500000 1 0 0x1004 0x1204
wait 1000600000 0 1 0 0x1004 0x1204
thread 12 lost
wait 1000000000 0 1 0 0x1104 0x1204
space 0
process 2 kworker
thread 2 kworker
wait 1000000000 0 4 0 0x1404
waits 1500000000 100000000 5 3 0 0 12345
space 0x9000
process 10 nginx
thread 10 nginx
wait 1100000000 1700000000 2 0 0x1104 0x1304
wait 1800000000 0 1 0 0x1004 0x1304
thread 12 lost
wait 1700000000 1800000000 1 0 0x1104 0x1204
waits 2000000000 100000000 5 4 1 2 12345
end 1 2000000000
END
waits="waits.up --weight wait -s web.sym"
for options in "" "--per-thread" "--time 0.2,0.4" "--min-wait 1ms" "--wait-filter" "--symbol-filter futex" \
	"--per-process --min-wait 1ms"; do
	echo "# folded $options"
	# shellcheck disable=SC2086 # words
	report $waits --format folded $options
done
for format in histogram histogram-csv histogram-json tree callgrind rows speedscope markdown; do
	echo "# $format"
	# shellcheck disable=SC2086 # words
	report $waits --format $format
done
echo "# rows and speedscope from 0.2 s to 0.6 s"
# shellcheck disable=SC2086 # words
report $waits --format rows --time 0.2,0.6
# shellcheck disable=SC2086 # words
report $waits --format speedscope --time 0.2,0.6 | grep '"weights"'
echo "# timeline: a map for each thread"
# shellcheck disable=SC2086 # words
report $waits --format timeline -o timeline.svg
grep '^<g class="panel">' timeline.svg | sed 's/<[^>]*>//g'
grep -o '<title>.*</title>' timeline.svg
echo "# by process, and by thread"
# shellcheck disable=SC2086 # words
report $waits --sort comm
# shellcheck disable=SC2086 # words
report $waits --sort thread
report waits.up --sort thread
# shellcheck disable=SC2086 # words
{
	report $waits --format flamegraph -o waits.svg
	report $waits --format pprof --per-thread -o waits.pb.gz
	grep -c '<title>' waits.svg
	gzip -dc waits.pb.gz | strings -n 3 | sort
	echo "# what is not for waits"
	report $waits --format perf-script
	report $waits --vcpu 0
	report waits.up --min-wait 1ms
	report waits.up --format folded -s web.sym
	"$MAKE_RECORDING" <"$data/web.txt" >none.up
	report none.up --weight wait
}
echo "# info"
info waits.up | sed -n '/^Waits/,$p'
echo "# archive"
"$UNIPROF" archive -s web.sym waits.up -o stored.up
mv web.sym moved.sym
report stored.up --weight wait --format folded
echo "# Speedscope's own importer"
need_modules speedscope ajv
mv moved.sym web.sym
# shellcheck disable=SC2086 # words
report $waits --format speedscope -o waits.json
speedscope waits.json

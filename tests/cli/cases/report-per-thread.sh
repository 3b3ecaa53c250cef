# With --per-thread, each output names the thread that ran, with the ids that its guest has. Threads of
# one process stay in it; where two guests have the same ids, each still has its own.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >threads.up <<END
info frequency 1000000
domain 0 7 2 1 2 linux
domain 1 9 2 1 1 other
sample 1000000000 0 1 0 0x1004
space 0x3000
process 1230 nginx
thread 1230 nginx
sample 1001000000 0 1 0 0x1004 0x1104
thread 1240 pool 1
sample 1001000000 1 1 0 0x1008 0x1104
sample 1002000000 0 1 0 0x1008 0x1104
thread 70001 of a vCPU
sample 1003000000 0 1 0 0x1004
space 0
process 2 kworker
thread 2 kworker
sample 1004000000 0 1 0 0x1084
in 1
space 0x6000
process 1230 nginx
thread 1240 pool 2
sample 1005000000 0 1 0 0x1004
end 1 2000000000
END
cat >nginx.sym <<END
1000 T encode
1080 T work
1100 T main
1200 D data
END
threads="threads.up -s nginx.sym --per-thread"
for format in perf-script folded rows; do
	echo "# $format"
	# shellcheck disable=SC2086 # words
	report $threads --format $format 2>/dev/null
done
echo "# histogram"
# shellcheck disable=SC2086 # words
report $threads --sort thread
# shellcheck disable=SC2086 # words
{
	echo "# speedscope"
	report $threads --format speedscope 2>/dev/null | grep -o '"name": ".*"weights.*'
	echo "# firefox"
	report $threads --format firefox 2>/dev/null | tr -d '\n\t' |
		grep -o '"showMarkersInTimeline": [^,]*, *"name".\{0,140\}"tid": [0-9]*'
	echo "# pprof and otlp"
	report $threads --format pprof -o threads.pb.gz 2>/dev/null
	gzip -dc threads.pb.gz | strings -n 3 | grep -E 'pool|vCPU|tid|thread'
	report $threads --format otlp -o threads.otlp 2>/dev/null
	strings -n 3 threads.otlp | grep -E 'pool|of a|thread\.'
	need_perf
	echo "# perf-data"
	report $threads --format perf-data -o perf.data 2>/dev/null
	perf script -i perf.data -F comm,pid,tid 2>/dev/null | awk 'NF > 1'
}

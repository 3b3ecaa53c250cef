# perf's --time accepts percentages for --format perf-data as for its own files, and finds
# the same samples as ours.
. "$CLI/lib.sh"
need_perf
{
	echo "info start 1000"
	echo "domain 0 3 2 1 1 web"
	i=0
	while [ $i -lt 100 ]; do
		echo "sample $((1000000000 + i * 10000000)) 0 1 0 0x1004"
		i=$((i + 1))
	done
	echo "end 1 1990000000"
} | "$MAKE_RECORDING" >even.up
report -i even.up --format perf-data -o perf.data 2>/dev/null
for part in 10%-20% 0%-50% 90%-100%; do
	echo "$part: $(perf script --time $part -F time 2>&1 | grep -c '^ *[12]\.')"
done
perf report --stdio --time 10%-20% 2>&1 | grep -c 'no first/last sample time'
perf report --header-only | grep -e '# time of' -e '# sample duration'
# A report of a part of the recording has the times of that part.
report -i even.up --time 1.5, --format perf-data -o perf.data 2>/dev/null
perf report --header-only | grep '# time of'

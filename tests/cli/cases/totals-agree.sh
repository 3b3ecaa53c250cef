# Every output has the same total of samples.
. "$CLI/lib.sh"
{
	echo "info start 1000"
	echo "domain 0 1 2 1 4 big"
	echo "many 20000 500 10 40"
	echo "end 1 90000000000"
} | "$MAKE_RECORDING" >big.up
awk 'BEGIN { for (i = 0; i < 30; i++)
	printf "%016x 0000000000000100 T function_%d\n", 1048576 + i * 256, i }' >big.sym
for symbols in "" "-s big.sym"; do
	for format in folded perf-script histogram histogram-csv rows; do
		"$UNIPROF" report -i big.up --format $format $symbols >$format \
			2>/dev/null
	done
	awk '{ sum += $NF } END { print "folded", sum }' folded
	awk '{ sum += $NF } END { print "rows", sum }' rows
	awk '/cpu-clock:/ { sum += $5 } END { print "perf-script", sum }' perf-script
	awk '!/^#/ { sum += $1 } END { print "histogram", sum }' histogram
	awk -F , 'NR > 1 { sum += $2 } END { print "histogram-csv", sum }' histogram-csv
	"$UNIPROF" report -i big.up $symbols --per-vcpu --format histogram-csv \
		2>/dev/null |
		awk -F , 'NR > 1 { for (i = 6; i <= NF; i++) sum += $i }
			END { print "per vCPU", sum }'
	# By function: the stacks that end in it, and those that contain it.
	awk '{
		count = $NF
		sub(/ [0-9]+$/, "")
		frames = split($0, frame, ";")
		split("", seen)
		for (i = 1; i <= frames; i++) {
			if (!(frame[i] in seen))
				total[frame[i]] += count
			seen[frame[i]] = 1
		}
		self[frame[frames]] += count
	}
	END { for (name in total) print name "," self[name] + 0 "," total[name] }' \
		folded | sort >from-folded
	awk -F , 'NR > 1 { print $1 "," $2 "," $4 }' histogram-csv | sort |
		diff - from-folded && echo "self and total agree"
	sed 's/ [0-9]*$//' folded | sort -c && echo "sorted"
done
info big.up | grep ' samples '

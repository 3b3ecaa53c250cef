# Every output has the same total under every filter, and shows it in its heading.
# Not with sanitizers: other cases filter, and write each output, with them.
. "$CLI/lib.sh"
make_plain

# of_all OPTION...: the totals; for tables that don't show all functions, the sum in the
# heading
of_all()
{
	for format in histogram tree; do
		"$UNIPROF" report -i big.up -s big.sym --format $format "$@" 2>/dev/null |
			sed -n 's/^# [^:]*: \([0-9]*\) .*samples.*/\1/p'
	done
	"$UNIPROF" report -i big.up -s big.sym --format folded "$@" 2>/dev/null |
		awk '{ sum += $NF } END { print sum + 0 }'
	"$UNIPROF" report -i big.up -s big.sym --format folded --invert "$@" 2>/dev/null |
		awk '{ sum += $NF } END { print sum + 0 }'
	"$UNIPROF" report -i big.up -s big.sym --format perf-script "$@" 2>/dev/null |
		awk '/clock: $/ { sum += $5 } END { print sum + 0 }'
	"$UNIPROF" report -i big.up -s big.sym --format histogram-json "$@" 2>/dev/null |
		sed -n 's/^\t"samples": \([0-9]*\),$/\1/p'
	"$UNIPROF" report -i big.up -s big.sym --format callgrind "$@" 2>/dev/null |
		awk '/^calls=/ { getline; next }
			/^0 / { sum += $2 } END { print sum + 0 }'
	"$UNIPROF" report -i big.up -s big.sym --format speedscope "$@" 2>/dev/null |
		sed -n 's/^.*"endValue": \([0-9]*\).*$/\1/p' |
		awk '{ sum += $1 } END { print sum + 0 }'
	case " $* " in
	*" big.up "*) ;; # it takes one recording
	*) "$UNIPROF" report -i big.up -s big.sym --format firefox "$@" 2>/dev/null | firefox_sum ;;
	esac
	"$UNIPROF" report -i big.up -s big.sym --format markdown "$@" >page 2>/dev/null
	sed -n 's/^| counted below | \([0-9]*\) .*/\1/p' page
	for table in vCPUs Functions 'Call chains'; do
		markdown_sum "$table" <page
	done
	"$UNIPROF" report -i big.up -s big.sym --format flamegraph "$@" 2>/dev/null |
		sed -n 's/^.*>all (\([0-9,]*\) .*$/\1/p' | tr -d ,
}

both()
{
	for weight in samples cpu-time wall; do
		echo "$* $weight:" $(totals --weight $weight "$@" | uniq -c)
	done
	echo "$* heading:" $(of_all "$@" | uniq -c)
}

both --time 1,2.5
both --time 10%,20% --vcpu 0,2
both --vcpu 3 --state running --domain small
both --parent '^function_(3|7)$'
both --parent '^function_1' --time ,50% --vcpu 1-2 --max-depth 4
both --max-depth 1
both --parent nothing_is_called_so
# Tables show the functions that match, and count all chains that have one.
for filter in 'function_2.' '^\[unres'; do
	echo "$filter:" $(of_all --symbol-filter "$filter" | uniq -c)
	echo "$filter:" $(of_all --symbol-filter "$filter" --parent function_3 \
		--time 1, | uniq -c)
done
# The same recording twice gives twice the total.
echo "twice:" $(of_all --parent '^function_1' big.up | uniq -c)
echo "once:" $(of_all --parent '^function_1' | uniq -c)

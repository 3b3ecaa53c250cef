# Each function has the same self and inclusive cost in callgrind_annotate as in the
# collapsed stacks, in recursions too, and the same as in the histogram.
# Not with sanitizers: callgrind writes these files with them.
. "$CLI/lib.sh"
command -v callgrind_annotate >/dev/null || skip "valgrind is not installed"
make_big
make_recording recursion
mv recursion.up small.up
cp "$data/recursion.sym" small.sym

# costs INCLUSIVE: the cost of each function, with its domain as a prefix
costs()
{
	callgrind_annotate --auto=no --threshold=100 --show-percs=no --inclusive=$1 costs |
		awk '/file:function/ { rows = 1; getline; next }
			rows && NF {
				cost = $1
				gsub(/,/, "", cost)
				sub(/^ *[^ ]+ +/, "")
				if (cost == ".") # was only called
					next
				sub(/ \[[^\]]*\]$/, "")
				print $0 "\t" cost
			}' | grep -v ':\[domain ' | sort
}

# agree NAME DOMAINS OPTION...
agree()
{
	name=$1
	domains=$2
	shift 2
	for format in folded callgrind histogram-csv; do
		report -i $name.up -s $name.sym --format $format -o $format "$@" 2>/dev/null
	done
	mv callgrind costs
	# domain:caller;domain:callee
	case $domains in
	*,*) ;;
	*) sed -i "s/^/$domains;/" folded ;;
	esac
	awk '{
		domain = substr($0, 1, index($0, ";") - 1)
		rest = substr($0, length(domain) + 2)
		gsub(/;/, ";" domain ":", rest)
		print domain ":" rest
	}' folded | self_and_total >expected
	costs no >self
	awk -F '\t' '$2 { print $1 "\t" $2 }' expected | diff - self
	costs yes >total
	cut -f 1,3 expected | diff - total && echo "$@" $(wc -l <total) functions agree
	sed -n 's/^summary: //p' costs
	awk '{ sum += $NF } END { printf "%.0f\n", sum }' folded
	case $domains in
	*,*) awk -F , 'NR > 1 { print $1 ":" $2 "\t" $5 }' histogram-csv ;;
	*) awk -F , -v d="$domains" 'NR > 1 { print d ":" $1 "\t" $4 }' histogram-csv ;;
	esac | sort | diff - total && echo "the histogram too"
}

agree small recursion
for weight in samples cpu-time wall; do
	agree big big --domain big --weight $weight
	agree big big,small --weight $weight
done

# Inlined functions count as callees for filters, and in inverted chains. square() is
# inlined into twice(), and that into Cart::add(int).
. "$CLI/lib.sh"
build_shop
sample_functions shop 'Cart3addEi'
chains -s shop --inline >all
grep -c 'square' all
for filter in "--parent ::twice" "--symbol-filter ^square" "--parent ::add" \
	"--parent ::twice --symbol-filter ^square" "--parent ^square"; do
	echo "# $filter"
	chains -s shop --inline $filter
done
echo "# without inlined functions there are no callers"
chains -s shop --parent ::add
echo "# inverted"
chains -s shop --inline --invert
report -i shop.up -s shop --inline --tree | grep -v '^#' | grep -c square
# Inlined functions make chains longer than the limit of a recording.
address=$(nm shop | sed -n 's/ . [^ ]*Cart3addEi$//p')
size=$(nm -S shop | sed -n 's/^[^ ]* \([^ ]*\) . [^ ]*Cart3addEi$/\1/p')
offset=0
while [ $offset -lt $((0x$size)) ]; do
	at=$(printf '%#x' $((0x$address + offset)))
	echo "sample $((2000 + offset)) 0 1 0 $(yes $at | head -n 800 | tr '\n' ' ')"
	offset=$((offset + 1))
done >samples
{
	echo "info start 1000"
	echo "domain 0 3 2 1 1 web"
	cat samples
	echo "end 1 9000"
} | "$MAKE_RECORDING" >deep.up
for format in folded callgrind speedscope flamegraph perf-data histogram-csv; do
	report -i deep.up -s shop --inline --format $format -o $format
done
wc -l <samples | tr -d ' ' >counts
awk '{ sum += $NF } END { print sum }' folded >>counts
sed -n 's/^summary: //p' callgrind >>counts
awk '/^calls=/ { getline; next } /^0 / { sum += $2 } END { print sum }' callgrind >>counts
uniq counts | wc -l
awk '{ frames = gsub(/;/, "") + 1; if (frames > most) most = frames }
	END { print (most > 1024 ? "longer" : "no longer") }' folded

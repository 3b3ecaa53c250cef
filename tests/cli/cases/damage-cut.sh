# Cut off anywhere, a recording gives what is left: exit code 3, or 1 when nothing
# says that it is a recording; one line says why; never a sample too many.
. "$CLI/lib.sh"
make_recording damage
size=$(wc -c <damage.up)
at=0
while [ $at -lt "$size" ]; do
	head -c $at damage.up >cut.up
	"$UNIPROF" report -i cut.up --format folded -s "$data/plain.sym" >out 2>err
	code=$?
	lines=$(grep -vc ': note: ' err)
	samples=$(awk '{ sum += $NF } END { print sum + 0 }' out)
	echo "$code $samples" >>results
	if [ $code -ne 3 ] && [ $code -ne 1 ] || [ "$lines" -ne 1 ] ||
		[ "$samples" -gt 6 ]; then
		echo "cut at $at: exit code $code, $samples samples"
		cat err
	fi
	at=$((at + 7))
done
# More of the file is never fewer samples.
sort -n -k 2 -s results | cmp - results
sort -u results

# A recording truncated anywhere is reported as far as it goes: exit code 3, or 1 if it
# can't be recognized as a recording; one line of explanation; never too many samples.
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
# A longer part of the file never has fewer samples.
sort -n -k 2 -s results | cmp - results
sort -u results

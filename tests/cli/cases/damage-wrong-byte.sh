# A wrong byte anywhere loses at most its chunk, and is reported.
. "$CLI/lib.sh"
make_recording damage
size=$(wc -c <damage.up)
at=0
while [ $at -lt "$size" ]; do
	perl -e 'local $/; $_ = <STDIN>; substr($_, $ARGV[0], 1) ^= "\x55"; print' \
		$at <damage.up >flip.up
	"$UNIPROF" report -i flip.up --format folded -s "$data/plain.sym" >out 2>err
	code=$?
	lines=$(grep -vc ': note: ' err)
	samples=$(awk '{ sum += $NF } END { print sum + 0 }' out)
	echo "$code $samples" >>results
	if [ $code -ne 3 ] || [ "$lines" -ne 1 ] || [ "$samples" -gt 6 ]; then
		echo "wrong at $at: exit code $code, $samples samples"
		cat err
	fi
	"$UNIPROF" info flip.up >/dev/null 2>err
	[ $? -eq 3 ] && [ "$(wc -l <err)" -eq 1 ] || echo "wrong at $at: info"
	at=$((at + 5))
done
sort -u results

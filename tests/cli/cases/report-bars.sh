# On a terminal the histogram has bars, as long as there is room; in a pipe it has none.
. "$CLI/lib.sh"
command -v script >/dev/null || skip "script (bsdutils) is not installed"
make_recording web two
for columns in 120 70 40; do
	echo "$columns columns"
	script -qec "stty cols $columns; $UNIPROF report -s $data/web.sym web.up" \
		typescript >/dev/null </dev/null 2>&1
	grep -v -e ^Script -e ' note: ' typescript | tr -d '\r'
done
script -qec "stty cols 80; $UNIPROF report --weight wall -s $data/plain.sym two.up" \
	typescript >/dev/null </dev/null 2>&1
grep -v -e ^Script -e ' note: ' typescript | tr -d '\r'
script -qec "$UNIPROF report -s $data/web.sym web.up 2>/dev/null | cat" \
	typescript >/dev/null </dev/null 2>&1
grep -c '##' typescript

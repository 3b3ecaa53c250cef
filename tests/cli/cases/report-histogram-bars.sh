# On a terminal the histogram has bars if there is space; in a pipe it has none.
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

# Long names are cut at the width of the terminal, unless that leaves too little of them.
long=$(yes name_ | head -n 30 | tr -d '\n')
printf '%b\n' "1000 T leaf_$long" "1100 T \303\251\303\251_$long" '1200 T main' \
	'1300 T idle' >long.sym
export PAGER=cat
for columns in 60 20; do
	for command in "report" "report --tree" "diff web.up"; do
		echo "$command, $columns columns"
		script -qec "stty cols $columns; $UNIPROF $command -s long.sym web.up" \
			typescript >/dev/null </dev/null 2>&1
		grep -a -e '\.\.\.' -e name_ typescript | tr -d '\r'
	done
done

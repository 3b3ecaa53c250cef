# --baseline: the page has both recordings, each with the sums of its own histogram, and
# compares them. --open gives files to xdg-open, or says what to open.
. "$CLI/lib.sh"
need_modules
make_big
{
	begin_big
	echo "end 1 5000000000"
} | "$MAKE_RECORDING" >old.up
awk 'BEGIN { for (i = 0; i < 40; i++)
	printf "%016x 0000000000000100 T function_%d\n", 1048576 + i * 256, i }' >big.sym
report -s big.sym --format html big.up --baseline old.up -o big.html
for recording in 0 1; do
	for weight in samples cpu-time wall; do
		echo "{\"weight\": \"$weight\", \"state\": null, \"domain\": null, \"vcpu\": null," \
			"\"recording\": $recording, \"ranges\": []}"
	done
done >questions
node "$CLI/page.mjs" big.html <questions >page || echo "page.mjs failed"
for recording in big old; do
	for weight in samples cpu-time wall; do
		report -i $recording.up -s big.sym --format histogram-csv --weight $weight 2>/dev/null |
			awk -F , '
			NR == 1 { first = $1 == "domain" ? 2 : 1 }
			NR > 1 { self[$first] += $(first + 1); total[$first] += $(first + 3) }
			END { for (name in total) print name "," self[name] "," total[name] }' | sort
		echo
	done
done >histograms
cmp page histograms && echo "$(grep -c '^$' page) sums are the same"

report -i big.up --baseline old.up 2>&1
report -i big.up --format html --baseline missing.up 2>&1
report -i big.up --format html --baseline old.up -o old.up 2>&1
report -i big.up --format html --open 2>&1
report -i big.up --open -o x 2>&1
mkdir bin
printf '#!/bin/sh\necho "$@" >opened\nexit $FAILS\n' >bin/xdg-open
chmod +x bin/xdg-open
for format in html flamegraph timeline; do
	DISPLAY=:1 PATH=$PWD/bin:$PATH FAILS=0 report -i big.up -s big.sym --format $format --open \
		-o "a $format" 2>/dev/null
	[ "$(cat opened)" = "$PWD/a $format" ] && rm opened && echo "$format is opened"
done
DISPLAY=:1 PATH=$PWD/bin:$PATH FAILS=3 report -i big.up -s big.sym --format html --open -o x 2>&1 |
	sed "s|$PWD|.|"
DISPLAY='' WAYLAND_DISPLAY='' report -i big.up -s big.sym --format html --open -o x 2>&1 | sed "s|$PWD|.|"
[ -s x ]

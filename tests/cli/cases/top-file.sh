# The table of a whole recording is that of report, with the rates; there is only one.
. "$CLI/lib.sh"
make_recording web two
for options in '-s web.sym' '--weight wall' '--state busy --vcpu 0' '--symbol-filter idle -s web.sym' \
	'--time 0.5,' '--per-vcpu' '--tree -s web.sym' '-s web.sym,domain=web' '-s web.sym,domain=nobody' \
	'-s web.sym@0x100'; do
	echo "$options"
	cp "$data/web.sym" .
	# shellcheck disable=SC2086
	"$UNIPROF" report $options web.up >report.out 2>report.err
	# shellcheck disable=SC2086
	"$UNIPROF" top $options -i web.up --batch 3 >top.out 2>top.err || echo "exit code $?"
	sed 1d top.out | diff report.out -
	sed 's/^uniprof report/uniprof top/' report.err | diff - top.err
done
head -n 1 top.out
echo sorted
for column in self total name; do
	"$UNIPROF" top -i web.up -s web.sym --batch 1 --sort $column 2>/dev/null | grep -v '^#'
done
echo pipe
cat two.up | "$UNIPROF" top -i - --batch 2 --domain web 2>/dev/null
echo domain
"$UNIPROF" top -i two.up --batch 1 --domain nobody || echo "exit code $?"

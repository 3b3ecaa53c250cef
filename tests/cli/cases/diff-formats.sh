# The exact output of all formats for a baseline and a later recording.
. "$CLI/lib.sh"
make_recording web
sed -e 's/0x1300/0x1204/' -e '/1040000/d' "$data/web.txt" | "$MAKE_RECORDING" >new.up

diff_of()
{
	"$UNIPROF" diff -s "$data/web.sym" "$@" || echo "exit code $?"
}

for format in histogram histogram-csv histogram-json folded; do
	diff_of --format $format web.up new.up 2>err
done
cat err
diff_of --percent-limit 31 web.up new.up 2>/dev/null
diff_of --parent middle --vcpu 0 --format histogram-csv web.up new.up 2>/dev/null
diff_of --format histogram-csv --weight wall web.up web.up 2>/dev/null
diff_of --format folded --normalize web.up new.up 2>/dev/null
# Separate symbols for the baseline: the same names at other addresses.
echo "0000000000009000 T leaf" >old.sym
diff_of --baseline-symbols old.sym --format folded web.up new.up 2>/dev/null
# Several domains in one of them.
make_recording two
diff_of --format folded web.up two.up 2>/dev/null
diff_of web.up two.up 2>/dev/null
diff_of --format histogram-csv web.up two.up 2>/dev/null

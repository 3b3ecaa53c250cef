# Each allocation fails once, alone and with all following ones: the command then gives its
# normal result, or reports that it is out of memory and exits with 1.
. "$CLI/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
command -v cc >/dev/null || skip "a C compiler is not installed"
ldd "$UNIPROF" | grep -q libasan && skip "AddressSanitizer has an allocator of its own"
cc -shared -fPIC -O1 -o fail.so "$CLI/fail_allocation.c" || exit 1
make_recording web
cp "$data/web.sym" .
report -i web.up -s web.sym --format folded >web.folded 2>/dev/null
report -i web.up -s web.sym --format perf-script >web.script 2>/dev/null

# try NAME COMMAND...
try()
{
	python3 "$CLI/out_of_memory.py" "$UNIPROF" "$PWD/fail.so" "$@"
}

try info "$UNIPROF" info -v -i web.up
for format in $(report_formats); do
	try $format "$UNIPROF" report -i web.up -s web.sym --format $format
done
try "a narrowed report" "$UNIPROF" report -i web.up -s web.sym --time 10%,90% --parent a \
	--domain web --per-vcpu web.up
for format in histogram histogram-csv folded flamegraph; do
	try "diff, $format" "$UNIPROF" diff -s web.sym --format $format web.up web.up
done
try archive "$UNIPROF" archive -i web.up -o - -s web.sym
try "import, folded" "$UNIPROF" import -o - web.folded
try "import, perf-script" "$UNIPROF" import -o - web.script

# Each allocation fails once, alone and with all following ones: the command then gives its
# normal result, or reports that it is out of memory and exits with 1.
. "$CLI/lib.sh"
command -v cc >/dev/null || skip "a C compiler is not installed"
ldd "$UNIPROF" | grep -q libasan && skip "AddressSanitizer has an allocator of its own"
cc -shared -fPIC -O1 -o fail.so "$CLI/fail_allocation.c" || exit 1
make_recording web
cp "$data/web.sym" .
report -i web.up -s web.sym --format folded >web.folded 2>/dev/null
report -i web.up -s web.sym --format perf-script >web.script 2>/dev/null

# run WHAT COMMAND...: its output in WHAT.out and WHAT.err, its exit code in WHAT.code
run()
{
	what=$1
	shift
	LD_PRELOAD=$PWD/fail.so "$@" >"$what.out" 2>"$what.said"
	echo $? >"$what.code"
	# A chunk that is not compressed makes archive write more.
	sed 's/: [0-9]* bytes,/: N bytes,/' "$what.said" >"$what.err"
}

# is_same: whether the result is the same as with enough memory, except that a recording
# may have chunks that are not compressed
is_same()
{
	cmp -s good.code did.code && cmp -s good.err did.err || return 1
	cmp -s good.out did.out && return 0
	"$UNIPROF" report -i did.out --format perf-script >did.script 2>/dev/null &&
		"$UNIPROF" report -i good.out --format perf-script >good.script 2>/dev/null &&
		cmp -s did.script good.script
}

# says_so: whether the result is one line about memory, and exit code 1
says_so()
{
	[ "$(cat did.code)" = 1 ] && [ "$(wc -l <did.err)" = 1 ] &&
		grep -Eq "memory|can't start a thread" did.err
}

# try NAME COMMAND...: runs the command with some of its allocations failing
try()
{
	name=$1
	shift
	FAIL_COUNT=$PWD/count run good "$@"
	count=$(cat count)
	[ "$count" -gt 20 ] || echo "$name: only $count allocations"
	step=$((count / 20 + 1)) at=1 wrong=0
	while [ $at -le "$count" ]; do
		for rest in '' FAIL_REST=1; do
			run did env FAIL_AT=$at $rest "$@"
			if is_same || says_so; then continue; fi
			wrong=$((wrong + 1))
			[ $wrong -gt 1 ] || {
				echo "$name: allocation $at $rest: exit code $(cat did.code)"
				head -n 3 did.err
			}
		done
		at=$((at + step))
	done
	[ $wrong -gt 0 ] || echo "$name: done, or out of memory"
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

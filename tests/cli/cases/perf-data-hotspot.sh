# hotspot's own parser, from Debian's hotspot, reads --format perf-data without errors and
# finds every name, wherever the program is in its file. It warns that it does not read
# SAMPLE_TIME, as it does for perf's own files.
. "$CLI/lib.sh"
# PERFPARSER: the path of another parser to use
parser=${PERFPARSER:-$(echo /usr/lib/*/libexec/hotspot-perfparser)}
[ -x "$parser" ] || skip "hotspot is not installed"
export HOME="$PWD"

# parse WHAT RECORDING OPTION...
parse()
{
	echo "== $1"
	recording=$2
	shift 2
	report -i "$recording" --format perf-data -o perf.data "$@" 2>/dev/null
	"$parser" --input perf.data --print-stats 2>&1 | grep -e '^samples:' -e '^mmaps:'
	"$parser" --input perf.data --output parsed 2>err
	echo "exit code $?"
	grep -v 'Switching to automatic buffering' err
	for text in cpu-clock xen1 leaf middle main idle; do
		if grep -q -a "$text" parsed; then echo $text; fi
	done
}

make_elf low.elf 0x1000 --build-id
make_elf packed.elf 0x1000 -N
make_elf high.elf 0xffffffff80001000
make_elf kernel.elf 0xffffffff80000000 -T "$data/kernel.lds"
make_recording web boundary
sed 's/0x\([19]...\)\b/0xffffffff8000\1/g' "$data/web.txt" |
	"$MAKE_RECORDING" >high.up
parse low web.up -s low.elf
parse packed web.up -s packed.elf
parse high high.up -s high.elf
parse kernel high.up -s kernel.elf
parse "little known" boundary.up

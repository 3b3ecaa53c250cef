# Symbols of another build, another address or another domain give plausible names, but are
# detected from the code: return addresses must follow calls.
. "$CLI/lib.sh"
# returns PROGRAM: the return addresses of its first calls
returns()
{
	objdump -d --no-show-raw-insn "$1" |
		awk '/^ *[0-9a-f]+:/ { if (is_after) { sub(":", "", $1); print "0x" $1 }
			is_after = $2 ~ /^call/ }' | head -n "${2:-60}"
}
# samples: a sample for each address on standard input, as its caller
samples()
{
	awk '{ print "sample", 2000 + NR, 0, 1, 0, "0x10", $1 }'
}
# record DOMAIN...: makes web.up of the samples on standard input
record()
{
	{
		echo "info start 1000"
		for domain; do echo "$domain"; done
		cat
		echo "end 1 9000"
	} | "$MAKE_RECORDING" >web.up
}
# warnings REPORT_OPTION...: the warnings of report, and its exit code
warnings()
{
	report -i web.up "$@" 2>&1 >/dev/null | grep -v "have no name" |
		sed 's/[0-9]* % of [0-9]* return/N % of M return/'
}
web="domain 0 3 2 1 1 web"
for build in O0 O1 O2; do
	g++ -std=c++17 -$build -no-pie -o $build "$data/nested.cc" || exit 1
done
nm O1 >O1.sym
objcopy --strip-debug O2 O2-stripped
returns O2 | samples | record "$web"
echo "# matching symbols"
warnings -s O2
warnings -s O2-stripped
echo "# symbols of other builds"
warnings -s O1
warnings -s O0 --format folded
warnings -s O1 --format pprof -o pprof
"$UNIPROF" diff -s O1 web.up web.up 2>&1 >/dev/null | grep -c "warning: .*O1 does not match"
echo "# symbols at another address"
warnings -s O2@0x10
warnings -s O2@-3
echo "# lists have no code to compare"
warnings -s O1.sym
echo "# a few mismatches, as caused by interrupts"
{ returns O2; echo 0x401106; echo 0x401107; } | samples | record "$web"
warnings -s O2
echo "# two addresses are too few"
returns O1 2 | samples | record "$web"
warnings -s O2
echo "# one of two domains runs another program"
{ returns O2 | samples; echo "in 1"; returns O1 | samples; } |
	record "$web" "domain 1 4 2 1 1 db"
warnings -s O2
warnings -s O2,domain=web -s O1,domain=db
warnings -s O1,domain=web -s O2,domain=db
warnings -s O2 --domain web

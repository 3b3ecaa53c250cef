# A report of an archived recording is byte for byte that of the recording with the ELF files:
# in all formats but html, which has the report's notes, with lines, inlined functions and mangled names, of one program in all domains
# and of one for each.
# Not with sanitizers: other cases archive, and write each output, with them.
. "$CLI/lib.sh"
g++ -g -O2 -std=c++17 -no-pie -Wl,--build-id=sha1 -o nested "$data/nested.cc" || exit 1
build_shop
# samples_of PROGRAM FIRST: a sample for each call: the instruction is near its return address,
# which two others call
samples_of()
{
	objdump -d --no-show-raw-insn "$1" | perl -wnse '
if (/^ +([0-9a-f]+):/) {
	push @chain, "0x$1" if $is_after;
	printf "sample %d 0 1 %d %#x @chain[-1, -2, -3]\n", ($first + $n) * 1000, $n++ % 3,
		hex($1) + $n % 5 if $is_after && @chain > 2;
	$is_after = /\tcall/;
}' -- -n=0 -first="$2"
}
{
	echo "info start 1000"
	echo "info frequency 99000"
	echo "domain 0 3 2 1 1 web"
	echo "domain 1 4 2 1 1 db"
	samples_of shop 1
	echo "in 1"
	samples_of nested 1000
	echo "end 1 99000000"
} | "$MAKE_RECORDING" >both.up

# compare FORMAT OPTIONS SYMBOL-OPTION...: prints the first two if both reports are the
# same; nothing if the format does not have the options
compare()
{
	format=$1 options=$2
	shift 2
	"$UNIPROF" report -i both.up "$@" --format $format $options >wanted 2>/dev/null || return
	"$UNIPROF" report -i archived.up --format $format $options >got 2>/dev/null || return
	# Notes depend on where names are from.
	[ $format != markdown ] || sed -i '/^Note: /d; /^Warning: /d; /^$/d' wanted got
	cmp wanted got >&2 && echo "$format $options"
}
# check WHAT SYMBOL-OPTION...: archives with all lines
check()
{
	what=$1
	shift
	"$UNIPROF" archive -i both.up -o archived.up --srcline "$@" 2>/dev/null
	for format in $(report_formats | grep -v '^html$'); do
		for options in "" --inline --srcline "--inline --srcline" --no-demangle; do
			compare $format "$options" "$@"
		done
	done >same
	echo "$what: $(wc -l <same) reports are the same"
}
check "one program" -s nested
check "one for each domain" -s shop,domain=web -s nested,domain=4
awk '{ print $1 }' same | uniq -c
check "one for both, another for one" -s nested,domain=db -s shop
nm nested >nested.sym
check "a list of names" -s nested.sym
check "at another address" -s shop@0x20 -s nested@0x1000000
echo "# names only"
"$UNIPROF" archive -i both.up -o archived.up -s nested 2>/dev/null
for format in folded perf-script pprof; do
	compare $format "" -s nested
done

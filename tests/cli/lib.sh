# SPDX-License-Identifier: BSD-3-Clause
# What the cases share.

data=$CLI/data

# make_recording NAME...: makes NAME.up of data/NAME.txt
make_recording()
{
	for name; do
		"$MAKE_RECORDING" <"$data/$name.txt" >"$name.up" || exit 1
	done
}

# report OPTION...: uniprof report, and its exit code when that is not 0
report()
{
	"$UNIPROF" report "$@" || echo "exit code $?"
}

info()
{
	"$UNIPROF" info "$@" || echo "exit code $?"
}

# skip REASON: leaves the case, as it can't be run here
skip()
{
	echo "$*"
	exit 77
}

# build_shop OPTION...: builds data/shop.cc as the program "shop"
build_shop()
{
	cp "$data/shop.cc" . && g++ -g -O2 -no-pie -Wl,--build-id=sha1 "$@" -o shop shop.cc || exit 1
}

# sample_functions PROGRAM PATTERN [OFFSET]: makes shop.up, with a sample of each address
# of the program's functions whose symbols match, loaded that far from their place
sample_functions()
{
	nm -S --defined-only "$1" | grep -E "$2" | perl -wnse '
BEGIN { print "info start 1000\ndomain 0 3 2 1 1 web\n" }
my ($start, $size) = (split)[0, 1];
$start = hex($start) + $offset;
printf "sample %d 0 1 0 %#x\n", 2000 + $n++, $_ for $start .. $start + hex($size) - 1;
END { print "end 1 9000\n" }' -- -n=0 -offset="${3:-0}" | "$MAKE_RECORDING" >shop.up || exit 1
}

# chains REPORT_OPTION...: the distinct chains of shop.up
chains()
{
	report -i shop.up --format folded "$@" | sed 's/ [0-9]*$//' | sort -u
}

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

# import OPTION...: uniprof import, and its exit code when that is not 0
import()
{
	"$UNIPROF" import "$@" || echo "exit code $?"
}

# need_browser: leaves the case where there is none
need_browser()
{
	for program in chromium chromedriver python3; do
		command -v $program >/dev/null || skip "$program is not installed"
	done
}

# drive: runs the Python on standard input, which may use browser.py and flame.py
drive()
{
	PYTHONPATH=$CLI PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8 python3 -
}

# skip REASON: leaves the case, as it can't be run here
skip()
{
	echo "$*"
	exit 77
}

# make_elf NAME ADDRESS LD-OPTION...: makes NAME of data/web.s, its code at ADDRESS
make_elf()
{
	elf=$1 address=$2
	shift 2
	as -o "$elf.o" "$data/web.s" || exit 1
	ld -o "$elf" -Ttext "$address" -e leaf --no-warn-rwx-segments "$@" "$elf.o" || exit 1
}

# need_perf: leaves the case when there is no perf; it shall find nobody's settings
need_perf()
{
	command -v perf >/dev/null || skip "linux-perf is not installed"
	export HOME="$PWD"
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

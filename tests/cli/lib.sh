# SPDX-License-Identifier: BSD-3-Clause
# Functions shared by the cases.

data=$CLI/data

# make_recording NAME...: makes NAME.up of data/NAME.txt
make_recording()
{
	for name; do
		"$MAKE_RECORDING" <"$data/$name.txt" >"$name.up" || exit 1
	done
}

# report OPTION...: runs uniprof report, and prints its exit code if not 0
report()
{
	"$UNIPROF" report "$@" || echo "exit code $?"
}

info()
{
	"$UNIPROF" info "$@" || echo "exit code $?"
}

# import OPTION...: runs uniprof import, and prints its exit code if not 0
import()
{
	"$UNIPROF" import "$@" || echo "exit code $?"
}

# need_browser: skips the case if there is no browser
need_browser()
{
	for program in chromium chromedriver python3; do
		command -v $program >/dev/null || skip "$program is not installed"
	done
}

# drive: runs the Python script on standard input, which can use browser.py and flame.py
drive()
{
	PYTHONPATH=$CLI PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8 python3 -
}

# without_devices COMMAND...: runs the command where there is no /dev/kvm, and no QEMU of
# another process
without_devices()
{
	if [ -e /dev/kvm ]; then
		unshare -mpf --mount-proc sh -c 'mount -t tmpfs none /dev && exec "$@"' sh "$@"
	elif unshare -mpf --mount-proc true 2>/dev/null; then
		unshare -mpf --mount-proc "$@"
	else
		"$@"
	fi
}

# need_no_hypervisor: skips the case where commands find one, also without_devices
need_no_hypervisor()
{
	[ ! -e /dev/xen/privcmd ] && [ ! -e /sys/hypervisor/type ] ||
		skip "this machine has Xen"
	without_devices true 2>/dev/null ||
		skip "this machine has KVM, which only root can hide, and not where / is no mount point"
}

# skip REASON: skips the case, which can't be run here
skip()
{
	echo "$*"
	exit 77
}

# make_elf NAME ADDRESS LD-OPTION...: makes NAME from data/web.s, with its code at ADDRESS
make_elf()
{
	elf=$1 address=$2
	shift 2
	as -o "$elf.o" "$data/web.s" || exit 1
	ld -o "$elf" -Ttext "$address" -e leaf --no-warn-rwx-segments "$@" "$elf.o" || exit 1
}

# need_perf: skips the case if there is no perf; keeps perf from reading a user's settings
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

# sample_functions PROGRAM PATTERN [OFFSET]: makes shop.up, with a sample at each address of
# the program's functions whose symbols match, as loaded at OFFSET
sample_functions()
{
	nm -S --defined-only "$1" | grep -E "$2" | perl -wnse '
BEGIN { print "info start 1000\ndomain 0 3 2 1 1 web\n" }
my ($start, $size) = (split)[0, 1];
$start = hex($start) + $offset;
printf "sample %d 0 1 0 %#x\n", 2000 + $n++, $_ for $start .. $start + hex($size) - 1;
END { print "end 1 9000\n" }' -- -n=0 -offset="${3:-0}" | "$MAKE_RECORDING" >shop.up || exit 1
}

# chains REPORT_OPTION...: prints the distinct chains of shop.up
chains()
{
	report -i shop.up --format folded "$@" | sed 's/ [0-9]*$//' | sort -u
}

# self_and_total: prints NAME SELF TOTAL for each function of the collapsed stacks in standard
# input, separated by tabs, sorted
self_and_total()
{
	awk '{
		count = $NF
		sub(/ [0-9]+$/, "")
		frames = split($0, frame, ";")
		split("", seen)
		for (i = 1; i <= frames; i++) {
			if (!(frame[i] in seen))
				total[frame[i]] += count
			seen[frame[i]] = 1
		}
		self[frame[frames]] += count
	}
	END { for (name in total) printf "%s\t%.0f\t%.0f\n", name, self[name], total[name] }' |
		sort
}

# begin_big: prints the start of big.up: 20,000 samples of "big" on vCPUs 0 to 3, in 500
# chains; samples added to it are of "small"
begin_big()
{
	echo "info start 1000"
	echo "domain 0 1 2 1 4 big"
	echo "domain 1 2 2 1 4 small"
	echo "cpu-time 400000"
	echo "many 20000 500 10 40"
	echo "in 1"
	echo "cpu-time 300000"
}

# name_big: makes big.sym, which names most of the functions in the chains of begin_big
name_big()
{
	awk 'BEGIN { for (i = 0; i < 30; i++)
		printf "%016x 0000000000000100 T function_%d\n", 1048576 + i * 256, i }' \
		>big.sym
}

# make_big: makes big.up of two domains, thousands of chains, all kinds of states, CPU
# times and weights, and a recursion; and big.sym, which names most of its functions
make_big()
{
	{
		begin_big
		echo "weight 3"
		echo "many 3000 500 10 40"
		i=0
		while [ $i -lt 200 ]; do
			echo "sample $((5000000000 + i * 33333)) $((i % 3)) $((i % 5)) 0" \
				"0x100001 0x100101 0x100001"
			i=$((i + 1))
		done
		echo "sample 6000000000 2 3 0"
		echo "end 1 90000000000"
	} | "$MAKE_RECORDING" >big.up
	name_big
}

# make_hard: makes hard.up and hard.sym with the hardest cases for a format: a chain of 1,024
# addresses, a function name of 20,000 characters, the maximum time, a chain without
# addresses
make_hard()
{
	{
		echo "domain 0 1 2 1 1 <a>&\"b\"'c' caf$(printf '\303\251')"
		echo "sample 0 0 1 0 0x1000"
		echo "sample 18446744073709551000 0 1 0 $(yes 0x1001 | head -n 1023 |
			tr '\n' ' ')0x1101"
		echo "sample 0 1 1 0 0x1001 0x1001"
		echo "sample 1 1 1 4"
		echo "end 1 18446744073709551000"
	} | "$MAKE_RECORDING" >hard.up
	{
		echo "1000 T $(yes x | head -n 20000 | tr -d '\n')"
		echo "1100 T <b>&\"quoted\" 'name' $(printf '\303\251')"
	} >hard.sym
}

# otlp FILE: NAME SELF TOTAL of each function in a profile of OpenTelemetry, as self_and_total
otlp()
{
	PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8 python3 "$CLI/otlp.py" "$@"
}

npm_modules=$CLI/../../build/npm/node_modules

# need_modules NAME...: skips the case if one of the npm modules, or node, is missing
need_modules()
{
	command -v node >/dev/null || skip "nodejs is not installed"
	for module; do
		[ -d "$npm_modules/$module" ] ||
			skip "build/npm has no $module; see scripts/install-packages"
	done
}

# speedscope FILE...: imports the files with Speedscope's importer, see speedscope.js
speedscope()
{
	node "$CLI/speedscope.js" "$npm_modules" "$@"
}

# report_formats: the names of all formats of uniprof report
report_formats()
{
	"$UNIPROF" report --format help | awk '{ print $1 }'
}

# make_plain: makes big.up, 20,000 samples of "big" on vCPUs 0 to 3 and 3,000 of "small", in
# 500 chains of 30 functions each; big.sym names all but the last ten
make_plain()
{
	{
		begin_big
		echo "many 3000 500 10 40"
		echo "end 1 5000001000"
	} | "$MAKE_RECORDING" >big.up
	name_big
}

# totals OPTION...: prints the total of big.up in each output, in samples or us
totals()
{
	for format in folded perf-script histogram histogram-csv histogram-json rows markdown firefox; do
		"$UNIPROF" report -i big.up -s big.sym --format $format "$@" \
			>$format 2>/dev/null || echo "$format failed"
	done
	awk '{ sum += $NF } END { print sum + 0 }' folded
	awk '{ sum += $NF } END { print sum + 0 }' rows # "}" follows the number
	case "$*" in
	*cpu-time* | *wall*) unit=1000 ;;
	*) unit=1 ;;
	esac
	awk -v unit=$unit '/clock: $/ { sum += $5 / unit } END { print sum + 0 }' perf-script
	awk '!/^#/ { sum += $2 == "ms" ? $1 * 1000 : $1 } END { printf "%d\n", sum + 0.5 }' \
		histogram
	awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^self(_us)?$/) self = i }
		NR > 1 { sum += $self } END { print sum + 0 }' histogram-csv
	sed -n 's/^\t"\(samples\|cpu_time_us\|wall_us\)": \([0-9]*\),$/\2/p' histogram-json
	"$UNIPROF" report -i big.up -s big.sym --format histogram-csv --per-vcpu "$@" \
		2>/dev/null | awk -F , '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^vcpu/) cells[i] }
		NR > 1 { for (i in cells) sum += $i } END { print sum + 0 }'
	for table in vCPUs Functions 'Call chains'; do
		markdown_sum "$table" <markdown
	done
	firefox_sum <firefox
}

# firefox_sum: adds up the weights of the profile for the Firefox Profiler in standard input,
# in samples or us
firefox_sum()
{
	awk '/"weightType"/ {
		unit = /"weightType": "samples"/ ? 1 : 1000
		sub(/.*"weight": \[/, "")
		sub(/\].*/, "")
		count = split($0, weights, ", ")
		for (i = 1; i <= count; i++)
			sum += weights[i] * unit
	}
	END { printf "%d\n", sum + 0.5 }'
}

# markdown_sum TITLE: adds up the first column of that table of the page in standard input
markdown_sum()
{
	awk -F '|' -v title="## $1" '
		/^## / { is_table = $0 == title }
		is_table && /^\| [0-9]/ { sum += $2 ~ /ms/ ? $2 * 1000 : $2 }
		END { printf "%d\n", sum + 0.5 }'
}

# shorten: writes LONG for each name of 20,000 x in standard input. A regular expression as
# long as the name would take sed 10 s and 3 GB.
shorten()
{
	awk 'BEGIN { while (length(name) < 20000) name = name "x" }
		{
			while (at = index($0, name))
				$0 = substr($0, 1, at - 1) "LONG" substr($0, at + length(name))
			print
		}'
}

# pretend_domains: makes bin/uniprof, which comes first in PATH and lists two domains; and db.up, a
# recording of two others
pretend_domains()
{
	mkdir bin
	cat >bin/uniprof <<-'END'
		#!/bin/sh
		[ "$*" = list ] && printf '%s\n' '   ID  NAME' '    1  web' '   12  mail'
		[ "$1" != info ] || exec "$UNIPROF" "$@"
	END
	printf '%s\n' 'info host name' 'domain 0 3 2 1 1 db1' 'domain 1 4 2 1 1 db2' 'end 1 9' |
		"$MAKE_RECORDING" >db.up
	chmod +x bin/uniprof
	PATH=$PWD/bin:$PATH
}

# completions SHELL: prints the completions for the shell
completions()
{
	"$UNIPROF" completions "$1" || echo "exit code $?"
}

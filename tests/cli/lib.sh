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

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

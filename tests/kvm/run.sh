# SPDX-License-Identifier: BSD-3-Clause
# Runs cases, which are the scripts in $HERE/cases, each in an empty folder; shared with
# tests/gdb.
# shellcheck shell=sh disable=SC2034,SC2153

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
NOTES=/dev/null
export NOTES

# skip_cases REASON CASE...
skip_cases()
{
	echo "SKIPPED $1"
	shift
	echo "$# skipped"
	echo "0 passed, 0 failed"
	exit 0
}

# refused: prints how many system calls the program's filters refused, from the kernel's log, if
# it may be read (Linux 4.14)
refused()
{
	refusals | wc -l
}

refusals()
{
	dmesg 2>/dev/null | grep "type=1326 .*exe=\"$UNIPROF\""
}

# run_case NAME: runs the case in an empty folder; sets status to its exit code
run_case()
{
	mkdir "$work/$1"
	NOTES=$work/$1.notes
	: >"$NOTES"
	(cd "$work/$1" && timeout "$limit" sh "$HERE/cases/$1") >"$work/$1.log" 2>&1
	status=$?
	rm -rf "${work:?}/$1"
}

# run_cases CASE...: runs the cases; the exit code is 1 if one failed. A case that exits with 77
# could not be run here; its last line of output is the reason. A case that fails is run once
# more, because a stall of this machine spoils measurements; the number of cases run twice is
# printed.
run_cases()
{
	passed=0 failed=0 skipped=0 twice=0
	before=$(refused)
	limit=$((300 + ${KILLS:-30} + ${STOPS:-20} + 3 * ${EXECS:-6})) # s
	for case; do
		name=$(basename "$case")
		begun=$(date +%s)
		run_case "$name"
		if [ $status != 0 ] && [ $status != 77 ]; then
			echo "$name failed, and runs once more"
			tail -n 20 "$work/$name.log"
			twice=$((twice + 1))
			run_case "$name"
		fi
		if [ $status = 77 ]; then
			echo "SKIPPED $name: $(tail -n 1 "$work/$name.log")"
			skipped=$((skipped + 1))
		elif [ $status = 0 ]; then
			echo "ok $name ($(($(date +%s) - begun)) s)"
			sed 's/^/	/' "$NOTES"
			passed=$((passed + 1))
		else
			echo "FAILED $name ($(($(date +%s) - begun)) s)"
			tail -n 20 "$work/$name.log"
			failed=$((failed + 1))
		fi
	done
	if [ "$(refused)" -gt "$before" ]; then
		echo "FAILED a filter refused system calls: $(refusals | tail -n 5)"
		failed=$((failed + 1))
	fi
	[ $twice = 0 ] || echo "$twice of the cases ran twice"
	[ $skipped = 0 ] || echo "$skipped skipped"
	echo "$passed passed, $failed failed"
	[ $failed -eq 0 ]
}

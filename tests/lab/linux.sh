# Functions for the CASE.host files of Linux guests that run lab-work or lab-pair, on Xen or KVM;
# check.sh comes first, and $out/kallsyms has the kernel's names as linked.
# shellcheck shell=sh disable=SC2154

# check_linux NAME: of the samples in the kernel, nearly all lead to the program's start, or to
# that of a kernel thread; most of all to a function that copies what is written
check_linux()
{
	report_all "$1" "$out/kallsyms"
	check_totals "$1"
	"$uniprof" report -i "$out/$1.data" -s "$out/kallsyms" -s build/lab-work --format folded \
		>"$out/$1.folded" 2>/dev/null
	awk -v guest="$1" '
	function verdict(good, text) { print (good ? "ok " : "FAILED ") guest ": " text }
	{
		count = $NF
		sub(/ [0-9]+$/, "")
		if (/(^|;)(_start|main|rewrite|system_call)$/) {
			user += count
			broken += /^_start;main(;|$)/ ? 0 : count
			next
		}
		kernel += count
		if (/^_start;main;/ || /^(ret_from_fork|secondary_startup_64|startup_xen)/)
			whole += count
		else
			print "  not whole: " $0 " " count
		if (count > most) {
			most = count
			hot = $0
		}
	}
	END {
		verdict(kernel > 300 && whole >= 0.99 * kernel,
			whole " of " kernel " samples in the kernel are whole")
		verdict(broken <= 0.01 * user, broken + 0 " of " user + 0 " in the program are not")
		verdict(hot ~ /^_start;main;rewrite;system_call;entry_SYSCALL_64_after_hwframe;do_syscall_64;.*pwrite64;.*;/,
			"the hot path is " hot)
	}' "$out/$1.folded"
	check "$1: its samples are those of the first process, lab-work" \
		grep -qE '^  lab-work\[1\] .* \((100\.0|9[89]\.[0-9]) %\)' "$out/$1.info"
}

# check_chosen NAME: the kernel runs elsewhere than where it was linked (KASLR), and was found there
check_chosen()
{
	at=$(sed -n 's/^  Linux is at *//p' "$out/$1.info")
	check "$1: it runs at an address that it has chosen, $at" \
		eval '[ -n "$at" ] && [ "$at" != 0xffffffff81000000 ]'
}

# check_pair NAME: each program has its own names and kernel functions, and its part of the CPU
check_pair()
{
	read -r first second <"$out/$1.pids"
	"$uniprof" report -i "$out/$1.data" -s "$out/kallsyms" -s build/lab-pair,comm=lab-pair \
		-s build/lab-pair-second,comm=lab-pair-second --format folded \
		>"$out/$1.folded" 2>/dev/null
	check "$1: it has reports by process" [ $? = 0 ]
	awk -v guest="$1" -v first_pid="$first" -v second_pid="$second" '
	function verdict(good, text) { print (good ? "ok " : "FAILED ") guest ": " text }
	{
		count = $NF
		all += count
		sub(/ [0-9]+$/, "")
		process = $0
		sub(/;.*/, "", process)
		sub(/^[^:]*:/, "", process)
	}
	# A process has its name from the first sample that the guest has not switched away from before
	# its task is read, after the pause: one sample of each may lack it.
	{ has_name = process ~ /^[^\[]+\[[0-9]+\]$/ }
	has_name { named += count }
	/;main;(encode|decode)(;|$)/ && !has_name { unnamed += count }
	/;main;encode(;|$)/ && has_name && process != "lab-pair[" first_pid "]" { others += count }
	/;main;decode(;|$)/ && has_name && process != "lab-pair-second[" second_pid "]" { others += count }
	/;main;encode(;|$)/ { first += count }
	/;main;decode(;|$)/ { second += count }
	/;main;encode$/ { own_first += count }
	/;main;decode$/ { own_second += count }
	/;main;encode;.*newuname/ { calls_first += count }
	/;main;decode;.*pwrite64/ { calls_second += count }
	/(^|;)entry_SYSCALL_64$/ {
		entry += count
		lost += /^entry_SYSCALL_64$/ ? count : 0
	}
	/;main;encode;.*pwrite64/ || /;main;decode;.*newuname/ { mixed += count }
	END {
		verdict(own_first > 30 && own_second > 10,
			own_first + 0 " samples in encode() and " own_second + 0 \
			" in decode(), at the same address")
		# Most of a short system call of a PV guest is the way in and out, by Xen.
		verdict(calls_first > (guest ~ /-pv-/ ? 5 : 20) && calls_second > 10 && mixed <= 0.01 * (calls_first + calls_second),
			calls_first + 0 " and " calls_second + 0 " in their system calls, " \
			mixed + 0 " in those of the other")
		verdict(first_pid > 0 && second_pid > first_pid && !others && unnamed <= 2,
			others + 0 " of " first + 0 " and " second + 0 " samples are those of another than lab-pair[" \
			first_pid "] and lab-pair-second[" second_pid "], " unnamed + 0 " of none")
		verdict(named >= 0.98 * all, named + 0 " of " all " samples have a process with a name")
		share = 100 * second / (first + second + 0.001)
		verdict(share > 15 && share < 35, "the second has " int(share) " % of the time, of 24.7 known")
		verdict(first + second > 0.9 * all, first + second " of " all " samples are theirs")
		# There, the kernel is on no stack of its own yet. Xen enters PV guests elsewhere.
		verdict(!lost && (entry > 5 || guest ~ /-pv-/), entry + 0 \
			" samples at the entry of system calls, " lost + 0 " without the program")
	}' "$out/$1.folded"
}

# check_waits NAME: threads wait where their kernel says, and as long as is known, and all were read
check_waits()
{
	{
		python3 tests/lab/waits.py shown "$out/$1.log" "$out/$1.threads"
		python3 tests/lab/waits.py shares "$out/$1.data" build/lab-waits "$out/$1.turns"
	} | sed "s/ / $1: /"
	check "$1: all of its threads are known: $(tail -n 1 "$out/$1.closing")" \
		grep -qE '; waits of [0-9]{2,} threads in [0-9]{3,} rounds.* 0 unread, by [0-9.]+ % of a CPU' \
		"$out/$1.closing"
}

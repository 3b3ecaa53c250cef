# SPDX-License-Identifier: BSD-3-Clause
# Functions shared by the cases of the KVM tests, each of which runs in an empty folder.
# shellcheck shell=sh disable=SC2034,SC2154

# A command that runs another one without the capabilities to ask KVM
without='setpriv --bounding-set=-bpf,-perfmon,-sys_admin --inh-caps=-bpf,-perfmon,-sys_admin'

# start NAME OPTION...: boots the guest, $program; sets vmm to the VMM's pid. Its output is in
# NAME.out. as: a command that runs the VMM, such as setpriv; kernel: --kernel, to name the guest's
# file in the way of VMMs that uniprof knows. REST: how long a vCPU rests after each line, in ms, where it
# matters only that the guest runs: each line takes it some 50 ms of CPU time, which other tests can use
program=guest.elf as='' kernel=''
start()
{
	name=$1
	shift
	rm -f "$name.out" # an earlier guest's
	# shellcheck disable=SC2086 # several words
	$as "$PROGRAMS/vmm" --id "$name" ${REST:+--rest "$REST"} "$@" $kernel "$PROGRAMS/$program" >"$name.out" 2>>"$name.err" &
	vmm=$!
	vmms="$vmms $vmm"
	wait_for "the guest's first line" grep -q first "$name.out"
}

# spawn_qemu NAME MACHINE OPTION...: starts a real QEMU, which boots the guest; exits with 77 if there
# is none. firmware: qboot.rom takes a tenth of a second, SeaBIOS (the default) several, where KVM has to
# emulate the instructions of real mode
firmware=
spawn_qemu()
{
	name=$1 machine=$2
	shift 2
	command -v qemu-system-x86_64 >/dev/null || { echo "qemu-system-x86_64 is missing"; exit 77; }
	rm -f "$name.out"
	# A KVM that runs nested may refuse the MSR of this feature.
	qemu-system-x86_64 -M "$machine" -accel kvm -cpu host,-arch-capabilities -nodefaults \
		-display none -serial stdio ${firmware:+-bios "$firmware"} \
		-kernel "$PROGRAMS/$program" -name "$name" "$@" \
		>"$name.out" 2>"$name.err" &
	vmm=$!
	vmms="$vmms $vmm"
}

# start_qemu NAME MACHINE OPTION...: boots the guest in a real QEMU; exits with 77 if QEMU can't run it
start_qemu()
{
	spawn_qemu "$@"
	wait_for "QEMU's guest" eval '! kill -0 $vmm || grep -q first "$name.out"'
	kill -0 $vmm 2>/dev/null || { echo "no QEMU with KVM here: $(tail -n 1 "$name.err")"; exit 77; }
}

# monitor NAME COMMAND: prints the answer of the QEMU whose monitor is at NAME.monitor
monitor()
{
	python3 -c '
import socket, sys
monitor = socket.socket(socket.AF_UNIX)
monitor.connect(sys.argv[1] + ".monitor")
answer = b""
while answer.count(b"(qemu)") < 1:
    answer += monitor.recv(4096)
monitor.sendall(sys.argv[2].encode() + b"\n")
answer = b""
while answer.count(b"(qemu)") < 1:
    answer += monitor.recv(4096)
print(answer.decode(errors="replace"))
' "$1" "$2"
}

# check_whole FILE: checks that the chains of nearly all samples begin where the guest's do
check_whole()
{
	report -i "$1" --vcpu 0 --format folded >folded
	awk '/^_start;guest_main/ { whole += $NF } { all += $NF }
		END { exit !all || whole < all * 0.97 }' folded ||
		fail "$1: chains are cut: $(cat folded)"
	check_ends "$1"
}

# stop_all: ends the VMMs that were started
stop_all()
{
	for pid in $vmms; do
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	vmms=
}

# fail TEXT...: ends the case, and the recorder that it has started
fail()
{
	echo "$*"
	[ -z "${recorder-}" ] || kill -KILL "$recorder" 2>/dev/null
	stop_all
	exit 1
}

# wait_for WHAT COMMAND...: waits until the command succeeds
wait_for()
{
	what=$1
	shift
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || fail "waited in vain for $what: $(tail -n 2 ./*.err 2>&1)"
		sleep 0.05
	done
}

# children_of PID: prints the pids of a process's children
children_of()
{
	grep -l "^PPid:.$1\$" /proc/[0-9]*/status 2>/dev/null | cut -d/ -f3
}

# lines FILE: prints the number of lines
lines()
{
	wc -l <"$1"
}

has_grown()
{
	[ "$(lines "$1")" -gt "$2" ]
}

# goes_on NAME: waits until the guest goes on
goes_on()
{
	kill -0 "$vmm" 2>/dev/null || fail "the VMM has died: $(cat "$1.err")"
	wait_for "the guest to go on" has_grown "$1.out" "$(lines "$1.out")"
}

# is_free: succeeds if no thread of the VMM (the variable vmm) is traced or stopped
is_free()
{
	! grep -q -e '^TracerPid:.*[1-9]' -e '^State:.*[Tt] (' /proc/"$vmm"/task/*/status
}

# check_runs NAME: checks that the guest goes on, and that soon no thread of its VMM (the variable
# vmm) is traced or stopped: the guard of a killed recorder may stop threads for a moment, to
# withdraw requests for registers
check_runs()
{
	goes_on "$1"
	wait_for "nobody to trace or stop a thread" is_free
}

# random LIMIT: prints a random number below LIMIT, which is at most 65536
random()
{
	echo $(($(od -An -N2 -tu2 /dev/urandom) % $1))
}

# pause_below MILLISECONDS: sleeps for a random time, of less than a second
pause_below()
{
	sleep "0.$(printf %03d "$(random "$1")")"
}

# waited: prints how long all threads of the VMM have waited for a CPU, in us (proc(5),
# /proc/PID/schedstat)
waited()
{
	cat /proc/"$vmm"/task/*/schedstat | awk '{ ns += $2 } END { print int(ns / 1000) }'
}

# check_halts NAME: checks that the guest, lazy.elf, never stood still for longer than the limit of
# a pause and 0.1 s, but for the time that it waited for a CPU of a busy machine. Sets most to the
# longest halt, in us
check_halts()
{
	wait_for "the guest's longest halt" grep -q '^most ' "$1.out"
	mhz=$(awk '/^cpu MHz/ { print int($4); exit }' /proc/cpuinfo) # roughly that of the TSC
	most=$(($(awk '$1 == "most" { print $2 }' "$1.out" | tail -n 1) / mhz))
	[ "$most" -lt $((1100000 + $(waited))) ] ||
		fail "the guest stood still for $most us, and waited for a CPU for $(waited) us"
}

# has_no_request NAME: succeeds if neither of the guest's two vCPUs is asked for its registers
has_no_request()
{
	: >"$1.err"
	kill -HUP "$vmm"
	sleep 0.2
	[ "$(grep -c '^vCPU [01]: valid_regs 0$' "$1.err")" = 2 ]
}

# need_slots NAME: exits with 77 if KVM may not be asked where the guest's memory is
need_slots()
{
	# On a busy machine, this can end before the first sample.
	"$UNIPROF" record -v -T 0.5 -o /dev/null "$1" 2>record.err
	! grep 'KVM was not asked' record.err || { stop_all; exit 77; }
}

# record OPTION...: runs uniprof record; its messages are in record.err
record()
{
	"$UNIPROF" record "$@" 2>record.err || fail "record failed: $(cat record.err)"
}

# ticks: prints the CPU time of the VMM (the variable vmm), in 1/100 s (proc(5), /proc/PID/stat)
ticks()
{
	sed 's/.*) //' "/proc/$vmm/stat" | awk '{ print $12 + $13 }'
}

has_run()
{
	[ "$(ticks)" -ge "$1" ]
}

# record_busy SECONDS OPTION...: records until the guest has run for SECONDS, but on a busy
# machine no more than 100 s. TIMES: factor for both, where samples take longer.
record_busy()
{
	until=$(($(ticks) + $1 * 100 * ${TIMES:-1}))
	shift
	"$UNIPROF" record -T 100 "$@" 2>record.err &
	recorder=$!
	while ! has_run $until && kill -0 $recorder 2>/dev/null; do
		sleep 0.2
	done
	kill -INT $recorder 2>/dev/null
	wait $recorder || fail "record failed: $(cat record.err)"
}

# report OPTION...: runs uniprof report. ELF: the guest's file, if it is not $program
report()
{
	"$UNIPROF" report -s "${ELF:-$PROGRAMS/guest.elf}" "$@" 2>report.err ||
		fail "report failed: $(cat report.err)"
}

# check_ends FILE: checks that "whole" is the truth, within half a point of all samples, rounded up: of
# the chains that begin at the guest's start; on CPUs for which info takes files
check_ends()
{
	if ! "$UNIPROF" info "$1" -s "${ELF:-$PROGRAMS/$program}" >ends 2>ends.err; then
		grep -q 'links are checked in code for x86-64 and arm64 only' ends.err || fail "$1: $(cat ends.err)"
		return
	fi
	whole=$(sed -n 's/^  whole  *\([0-9]*\) .*/\1/p' ends)
	ELF=${ELF:-$PROGRAMS/$program} report -i "$1" --format folded |
		awk -v whole="${whole:-0}" '
		/^_start[; ]/ { true += $NF }
		{ all += $NF }
		END {
			printf "%d of %d chains begin at the start, %d are whole\n", true, all, whole
			off = whole > true ? whole - true : true - whole
			exit off > int(all * 0.005) + 1
		}' >ends || fail "$1: $(cat ends)"
}

# check_shares FILE: checks that alpha, beta and gamma have 10, 30 and 60 % of vCPU 0's CPU
# time, give or take two points, in whole chains of known depth, in at least 5000 samples: of
# 12,000 random samples, two points are 4.5 standard deviations. A sample of a vCPU that has
# waited for a CPU since its previous sample counts no time. WEIGHT: what counts instead of CPU
# time; LEAST and POINTS: instead of 5000 and 2. SINCE: seconds at the start to leave out.
check_shares()
{
	count=$("$UNIPROF" info "$1" | sed -n 's/^  samples  *\([0-9]*\).*/\1/p')
	[ "$count" -ge "${LEAST:-5000}" ] || fail "only $count samples"
	report -i "$1" --vcpu 0 ${SINCE:+--time "$SINCE,"} --weight "${WEIGHT:-cpu-time}" --format folded |
		awk -v points="${POINTS:-2}" '
		/;(alpha|beta|gamma)_leaf [0-9]+$/ {
			split($1, frame, ";")
			share[frame[4]] += $NF
			if (split($1, frame, ";") == 11)
				whole += $NF
			sum += $NF
		}
		# print is no work, and takes longer the slower exits from the guest are.
		/^_start;guest_main;print [0-9]+$/ { next }
		{ all += $NF }
		function off(name, percent)
		{
			printf "%s %.2f %%\n", name, 100 * share[name] / sum
			return 100 * share[name] / sum < percent - points ||
				100 * share[name] / sum > percent + points
		}
		END {
			if (!sum)
				exit 1
			bad = off("alpha", 10) + off("beta", 30) + off("gamma", 60)
			printf "%.2f %% in whole chains of the work\n", 100 * whole / all
			exit bad || whole < all * 0.97
		}' >shares || fail "wrong shares: $(cat shares)"
	{
		echo "$count samples"
		cat shares
	} >>"$NOTES"
	check_ends "$1"
}

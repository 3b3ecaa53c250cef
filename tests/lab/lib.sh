# Functions for the cases that run in dom0 (busybox sh). Files for CASE.host, on the host,
# go to /lab/out.
. ./say.sh

# start NAME [XL_ARGUMENT...]: creates the guest and waits until it works. SHARE: how much of a CPU it
# gets, in percent, where it matters only that it runs: the emulator has more time for dom0 then
start()
{
	name=$1
	shift
	# What an earlier guest of this name has printed says nothing of this one.
	rm -f "/var/log/xen/console/guest-$name.log"
	# shellcheck disable=SC2086 # nothing, or one word
	xl create -q "$name.cfg" ${SHARE:+cap=$SHARE} "$@" >/tmp/xl.log 2>&1 ||
		failed "xl create $name: $(cat /tmp/xl.log)"
	wait-guest "$name" heartbeat || failed "$name has a heartbeat"
}

# cap NAME PERCENT: gives a guest that runs no more than that of a CPU, as SHARE does from its start on;
# 0: no limit
cap()
{
	xl sched-credit2 -d "$1" -c "$2"
}

stop()
{
	xl destroy "$1" 2>/dev/null
}

heartbeats()
{
	grep heartbeat "/var/log/xen/console/guest-$1.log"
}

heartbeat()
{
	heartbeats "$1" | tail -n 1
}

# state NAME: the state letters of `uniprof list`
state()
{
	uniprof list | awk -v name="$1" '$2 == name { print $NF }'
}

is_paused()
{
	case $(state "$1") in *p*) true ;; *) false ;; esac
}

is_running()
{
	case $(state "$1") in '' | *[psd]*) false ;; *) true ;; esac
}

# within SECONDS COMMAND...: whether the command succeeds within that time
within()
{
	tries=$(($1 * 20))
	shift
	until "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.05
	done
}

# beats NAME: whether the guest's heart still beats
beats()
{
	# shellcheck disable=SC2034 # eval has it
	before=$(heartbeat "$1")
	within 5 eval '[ "$(heartbeat '"$1"')" != "$before" ]'
}

# worked_evenly NAME: whether, by its own count, the guest spent about as much time on each function
# as it should. When the emulator's host is busy with something else it does not, whoever samples.
worked_evenly()
{
	sed 's/.* t_alpha=\([0-9]*\) t_beta=\([0-9]*\) t_gamma=\([0-9]*\).*/\1 \2 \3/' \
		"/lab/out/$1.before" "/lab/out/$1.after" | awk '
		NR == 1 { for (i = 1; i <= 3; i++) before[i] = $i }
		NR == 2 {
			for (i = 1; i <= 3; i++)
				all += ran[i] = $i - before[i]
			split("10 30 60", known)
			for (i = 1; i <= 3; i++) {
				off = 100 * ran[i] / (all ? all : 1) - known[i]
				uneven += off < -2 || off > 2
			}
		}
		END { exit uneven > 0 }'
}

# record_work NAME [inside]: records the guest's known work, and its own counts before and
# afterwards, for check_work. With 4,000 samples, 3 % is four times the statistical error. A busy
# host takes longer for them. A limit on overhead would give fewer samples. With "inside", the
# counts are of the time between the first second of the recording and the last one: in an
# emulator that counts instructions, a guest does nothing for up to 0.3 s while a recorder starts
# or ends.
record_work()
{
	seconds=6
	[ -z "$2" ] || seconds=8
	for _ in 1 2 3; do
		first=$(heartbeats "$1" | wc -l)
		uniprof record -F 1000 -T $seconds --max-overhead 100 -o "/lab/out/$1.data" "$1" \
			2>"/lab/out/$1.closing" || failed "$1: record succeeds"
		last=$(heartbeats "$1" | wc -l)
		[ -z "$2" ] || first=$((first + 2)) last=$((last - 1))
		heartbeats "$1" | sed -n "${first}p" >"/lab/out/$1.before"
		heartbeats "$1" | sed -n "${last}p" >"/lab/out/$1.after"
		taken=$(sed -n 's/^uniprof record: \([0-9]*\) samples .*/\1/p' "/lab/out/$1.closing")
		if [ $((taken + 0)) -lt 4000 ]; then
			seconds=$((seconds * 5000 / (taken + 1) + 1))
		elif worked_evenly "$1"; then
			break
		fi
	done
	check "$1: there are enough samples, $taken" [ $((taken + 0)) -ge 4000 ]
	check "$1: its heart beats afterwards" beats "$1"
}

# keep_guest: on the lab's KVM, starts a guest that stays, stopped, for as long as the case runs: with
# the first guest and after the last one, Linux patches its scheduler's code (the static key of preempt
# notifiers), and an emulator that missed this left both CPUs in the breakpoint there, once in about
# 30 times.
keep_guest()
{
	/lab/in/tests/kvm/vmm --id kept /lab/in/tests/kvm/guest.elf >/lab/out/kept.out &
	kept=$!
	check "the kept guest runs" within 20 test -s /lab/out/kept.out
	kill -STOP "$kept"
}

# kvm_cases CASE...: runs cases of the KVM tests, without the line that counts them: the lab counts their
# results as its own, and those of a case that it repeats once
kvm_cases()
{
	sh kvm/run "$@" | sed '/^[0-9]* passed, [0-9]* failed$/d'
}

# keep_pids LOG NAME: leaves NAME.pids, the pids of both programs of lab-pair
keep_pids()
{
	sed -n 's/.*both programs run, as 0*\([0-9]*\) and 0*\([0-9]*\).*/\1 \2/p' "$1" |
		tail -n 1 >"/lab/out/$2.pids"
}

# refuses CODE TEXT COMMAND...: whether the command exits with that code and prints one line
# on standard error that contains the text
refuses()
{
	code=$1
	text=$2
	shift 2
	"$@" >/tmp/refuses.out 2>/tmp/refuses.err </dev/null
	got=$?
	if [ $got = "$code" ] && [ "$(wc -l </tmp/refuses.err)" = 1 ] &&
		grep -qF -- "$text" /tmp/refuses.err; then
		ok "exit code $code: $(cat /tmp/refuses.err)"
	else
		failed "exit code $code and one line with '$text': $* gave $got:" \
			"$(tr '\n' '|' </tmp/refuses.err)"
	fi
}

# crashes: checks the kernel's log for crashes of uniprof, and for system calls that its
# filters refused (Linux 4.14 logs them)
crashes()
{
	dmesg | grep -i segfault
	check "uniprof never crashed" eval '! dmesg | grep -q "uniprof.*segfault"'
	dmesg | grep 'type=1326'
	check "it made no system call that it must not make" \
		eval '! dmesg | grep -q "type=1326 .*uniprof"'
}

# guards: the processes that guard guests
guards()
{
	grep -lx guest-guard /proc/[0-9]*/comm 2>/dev/null | cut -d/ -f3
}

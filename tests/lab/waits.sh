# shellcheck shell=sh
# For the CASE.dom0 files of Linux guests that run lab-waits, on Xen or KVM.

# show_threads GUEST NAME: leaves NAME.threads, what is shown of the guest's threads, ten times
show_threads()
{
	i=0 times=10
	[ -z "$all" ] || times=25
	while [ $i -lt $times ]; do
		i=$((i + 1))
		uniprof stack --threads --table linux.tbl -s /proc/kallsyms -s lab-waits "$1" || break
	done >"/lab/out/$2.threads" 2>"/lab/out/$2.threads.err"
	check "$2: its threads are shown: $(tail -n 1 "/lab/out/$2.threads.err")" [ $i = $times ]
}

# keep_turns LOG NAME: adds to NAME.turns how long threads have been in their waits so far; the last
# line of the log may be cut
keep_turns()
{
	grep '^TURNS .*[0-9]' "$1" | tail -n 4 | head -n 3 >>"/lab/out/$2.turns"
}

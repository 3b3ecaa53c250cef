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

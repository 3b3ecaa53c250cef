# Domains of two hosts with the same id are two processes, in perf-data as in perf-script.
. "$CLI/lib.sh"
need_perf
make_recording web
sed 's/xen1/xen2/' "$data/web.txt" | "$MAKE_RECORDING" >other.up
processes()
{
	awk '/clock: *$/ { print $1, $2 }' | sort | uniq -c
}
report --format perf-data -o perf.data web.up other.up 2>/dev/null
perf script -i perf.data 2>/dev/null | sed 's,\([0-9]\)/ *\([0-9]\),\1/\2,' >data.txt
perf script -i perf.data -F comm,pid,tid 2>/dev/null | awk 'NF > 1' | sort | uniq -c |
	awk '{ print $1, $2, $3 }'
report --format perf-script web.up other.up 2>/dev/null | processes | awk '{ print $1, $2, $3 }'
# However many hosts have guests with the same id, and whatever is unknown about them, each
# vCPU is a separate thread with the name of its domain.
for host in 1 2 3 4 5 6 7 8 9; do
	"$MAKE_RECORDING" >host$host.up <<END
info start 1000
info host xen$host
domain 0 3 2 1 2 web
sample $((2000 + host)) 0 1 0 0x1004
sample $((3000 + host)) 1 1 0 0x1004
in 1
sample $((4000 + host)) 0 1 0 0x1004
end 1 9000
END
done
report host?.up --format perf-data -o perf.data 2>/dev/null
perf script -F comm,pid,tid,time >perfs
awk '{ print $2, $1 }' perfs | sort | uniq -c | awk '$1 == 1' |
	grep -c -e 'xen[1-9]_web$' -e 'domain-?$'

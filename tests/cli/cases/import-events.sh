# From a text with several events, one is imported, because different events don't add up:
# the first, or the requested one. Modifiers can be omitted.
. "$CLI/lib.sh"
cat >perf.txt <<'END'
web  100 [000] 1.000001:     1000 cycles:u: 
	            1000 hot+0x0 (/bin/web)
	            2000 main+0x0 (/bin/web)

web  100 [000] 1.000002:        7 cache-misses: 
	            1100 missing+0x0 (/bin/web)
	            2000 main+0x0 (/bin/web)

web  100 [000] 1.000003:     1000 cycles:u: 
	            1000 hot+0x0 (/bin/web)

web  100 [000] 1.000004:        1 sched:sched_switch: prev_comm=web prev_pid=100 ==> next
	            1200 schedule+0x0 (/bin/web)

web  100 [000] 1.000005:        5 cache-misses: 
	            1100 missing+0x0 (/bin/web)

END
try()
{
	import -o a.up "$@" perf.txt
	report -i a.up --format folded
}
try
try --event cycles
try --event cycles:u
try --event cache-misses
try --event sched:sched_switch
rm a.up
import -o a.up --event sched perf.txt
import -o a.up --event cycles:k perf.txt
ls
printf 'main 1\n' | import --event cycles -o a.up

# Variants of perf's output: with blanks around and in the command, without CPU, with
# the frame in the sample's line, without offset or DSO, in ns, with inlined functions,
# deleted files, comments and lost events.
. "$CLI/lib.sh"
cat >perf.txt <<'END'
# ========
# captured on    : Sat Nov 21 12:00:00 2026
# ========
#
         swapper     0 [001]    12.500000:     250000 cycles:  ffffffff81000002 native_safe_halt+0x2 ([kernel.kallsyms])
     Web Content  1234 [003]    13.000000001: sched:sched_switch: prev_comm=a 5 ==> next
END
import -o perf.up perf.txt
report -i perf.up --format perf-script
cat >chains.txt <<'END'
pool 2 1234/1235   1.5:   cycles:u: 
	            55d0 operator new(unsigned long)+0x1c (/usr/lib/libc.so.6 (deleted))
	            55d0 inner (inlined)
	            6001 main (/tmp/a b/x)
	            7000 [unknown] (/tmp/x)
	            8000

pool 2 1234/1235 [001]   2.5:   cycles:u: 
	            55d0 outer+0x1 (inlined)
	               0 [unknown] ([unknown])

pool 2 1234 3.5: PERF_RECORD_LOST lost 3
pool 2 1234/1235 [002] d..1   4.5:   cycles:u: 
	               0 [unknown] ([unknown])

pool 2 -1 [002] 5.5:
END
import -o chains.up chains.txt
report -i chains.up --format perf-script
report -i chains.up --format folded
printf 'x 7\n\t10 a\n\nx 7 cycles:\n\t10 a\n' >plain.txt
import -f perf-script -o plain.up plain.txt
report -i plain.up --format folded

# The function graph tracer's text: a call counts the time that it took without its callees.
. "$CLI/lib.sh"
try()
{
	import -o a.up "$@"
	report -i a.up --format folded
}
echo "# Nanos: a header for each CPU, the function's name behind a bracket"
cat >nanos <<'END'
# tracer: function_graph
#
# CPU  DURATION                  FUNCTION CALLS
# |     |   |                     |   |   |   |
 0)               |  mcache_alloc() {
 0) ! 207.666 us  |    runtime_memcpy();
 0)   0.071 us    |    runtime_memcpy();
 0)               |    objcache_allocate() {
 0)   0.200 us    |      ();
 0)   0.277 us    |    } /* objcache_allocate */
 0) ! 208.373 us  |  } /* mcache_alloc */
 0)   0.093 us    |  install_fallback_fault_handler();
 0) @ 1234567. us |  kern_pause();
# tracer: function_graph
#
# CPU  DURATION                  FUNCTION CALLS
# |     |   |                     |   |   |   |
 1)               |  runloop() {
 1) @ 12345678 us |    kern_pause();
 1)   5.000 us    |    page_fault();
 1) @ 12345678 us |  } /* runloop */
END
try nanos
report -i a.up --vcpu 1 --format folded
echo "# calls without a beginning or an end, and callers that are not known"
cat >parts <<'END'
 0)   1.000 us    |      leaf();
 0)   4.000 us    |    } /* middle */
 0)   2.000 us    |    other();
 0)   9.000 us    |  } /* outer */
 0)               |  outer() {
 0)   3.000 us    |    other();
 0)               |    middle() {
 0)               |      inner() {
 0)   1.000 us    |        leaf();
 1)   7.000 us    |  elsewhere();
 0)   8.000 us    |  next();
 0)               |  outer() {
 0)   1.000 us    |        leaf();
 0)   6.000 us    |  } /* another */
 0)               |  last() {
END
try parts
echo "# Linux: tasks, interrupts, comments, returned values, lost events"
cat >linux <<'END'
# tracer: function_graph
#
# CPU  DURATION                  FUNCTION CALLS
# |     |   |                     |   |   |   |
 ------------------------------------------
   0)    sh-7       =>    init-1
 ------------------------------------------

   0)               |  do_wait() {
   0)               |    /* sched_switch: prev_comm=init | next_comm=sh */
   0)   ==========> |
   0)   0.500 us    |    irq_enter();
   0)   <========== |
   0)   2.000 us    |  } /* = 0x7 */
   0)   1.000 us    |  nft_chain [nf_tables]();
   0)               |  schedule() {
   0)   0.250 us    |    pick_next(cpu=0); /* ret=0 */
 ------------------------------------------
   0)    init-1     =>   a|b-9
 ------------------------------------------

   0) + 20.000 us   |  } /* schedule */
   0)               |  sys_read() {
CPU:0 [LOST 12 EVENTS]
   0)   0.100 us    |    fdget();
   0) $ 2000000 us  |  }
CPU:1 [LOST EVENTS]
END
try linux
echo "# a part of a trace of Linux 6.1"
import -o a.up <"$data/ftrace-linux.txt"
report -i a.up --format folded | head -n 12
echo "# the task in a column"
cat >tasks <<'END'
# tracer: function_graph
#
# CPU  TASK/PID         DURATION                  FUNCTION CALLS
# |     |    |           |   |                     |   |   |   |
 0)     sh-138     |               |  exit_to_user_mode_prepare() {
 0)     sh-138     |   ==========> |
 0)     a|b-139    |   0.831 us    |    fpregs_assert_state_consistent();
 0)     sh-138     | + 17.266 us   |  } /* exit_to_user_mode_prepare */
END
try tasks
echo "# what can't be read"
cat >bad <<'END'
# tracer: function
   sh-7  [000]  1234: fn <-caller
 8192)   1.000 us |  fn();
 99999999999999999999)   1.000 us |  fn();
 0)   1.0000 us   |  fn();
 0)   1.000 ms    |  fn();
 0)   99999999999999999999 us |  fn();
 0)               |  fn();
 0)               |  }
 0)   1.000 us    | fn();
 0)   1.000 us    |  fn
   0.000123 |   0)   1.000 us    |  fn();
 0)   5           |               |  fn();
 0)
)
CPU:x [LOST 1 EVENTS]
END
for line in $(seq 1 "$(wc -l <bad)"); do
	{ echo ' 0)   2.000 us    |  first();' && sed -n "${line}p" bad; } | import -f ftrace -o a.up
done 2>&1 | grep -v -e nanosecond -e ' samples from' | uniq
echo "# deep, and too much"
printf ' 0)   1.000 us    |  a();\n 0)   1.000 us    |  %2050sb();\n' '' | try
awk 'BEGIN {
	for (i = 0; i <= 1024; i++) printf " 0)               |  %*sf%d() {\n", 2 * i, "", i
	for (i = 1024; i >= 0; i--) printf " 0) %d us |  %*s}\n", 1025 - i, 2 * i, ""
}' | try - | awk -F ';' '{ print NF, substr($NF, 1, 3) }' | sort -n | tail -n 1
printf ' 0) %s us |  fn();\n' 1.000 999999999999.999 18446744073709551 | try -
printf ' 0)               |  fn() {\n' | import -o a.up

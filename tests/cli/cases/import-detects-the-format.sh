# The format is detected from the text, after comments and empty lines.
. "$CLI/lib.sh"
try()
{
	printf "$1" | import -o a.up
}
try '\n# x\nmain;a 1\n'
try 'main 1'
try 'vcpu1 offline\n\nvcpu2:\nrip: 10\n'
try 'rip: 0000000000001000 f\nCall Trace:\n'
try '#unikernel stack tracer using x\n\n1\n'
try 'main+0x10\n1\n'
try 'operator new(unsigned long)+0x10\n1\n'
try 'x 1/2 [000] 1.5: 1 cpu-clock: \n\t10 a\n'
try 'x 1 1.5: cpu-clock: \n'
try '  x y 1 [001] 1.5: cpu-clock: 10 a\n'
# perf script without CPU and time, with perf's own comments
try '# captured on: Thu Dec  4 18:23:53 2014\n# cmdline : perf record -p 3236 -g\n#\njava  3244 cpu-clock: \n\t7f1e214c24d9 f (/lib/libjvm.so)\n'
try 'java 19983 cycles:\nffffffff8103d0ca f ([kernel.kallsyms])\n'
try 'x y 1/2 10 cycles:u: \n\t10 a\n'
try ' 0)   1.000 us    |  fn();\n'
try '# tracer: function_graph\n 0)   1.000 us    |  fn();\n'

# Input that can't be imported: one line with the reason, and no files left behind.
. "$CLI/lib.sh"
try()
{
	import "$@" >out
	cat out
	find . -type f ! -name text ! -name out
}
: >text && try text
printf 'hello\n' >text && try text
head -c 2000000 /dev/zero | tr '\0' a >text && try text
try missing
try .
printf 'main 0\n' >text && try text
printf 'main 18446744073709551616\n' >text && try -f folded text
printf 'web 1 [8192] 1.0: x:\n' >text && try text
printf 'Call Trace:\n [<10>] a\n' >text && try text
printf 'vcpu0:\nrip: 10\nCall Trace:\n [<10] a\n' >text && try text
printf 'vcpu9000:\n' >text && try text
head -c 65536 /dev/zero | tr '\0' a >text && echo ' 1' >>text && try text
head -c 3000 "$UNIPROF" >text && try text
printf '\177ELF\0 1\nx\0 2\n' >text && try -f folded text
printf 'web 1 1.0: 1 cycles:\n' >text && try --event instructions text
# Two counts: it is not clear which profile to import.
printf 'main;b 10 12\nmain 0 4\n' >text && try text
printf '# x\nmain;b 10.5 12.5\n' >text && try -f folded text
# An existing file stays unchanged.
printf 'main 1\n' >text && import -o kept text
import -o kept -f folded /dev/null
report -i kept --format folded
ls
import -o no/where text
import -o /dev/full text

# What can't be imported: one line that names the place, and nothing left behind.
. "$CLI/lib.sh"
try()
{
	import "$@" >out
	cat out
	ls | grep -v -x -e text -e out
}
: >text && try text
printf 'hello\n' >text && try text
try missing
try .
printf 'main 1\nmain;other\n' >text && try text
printf 'main 1\n;b 1\n' >text && try text
printf 'main 1\n 5\n' >text && try text
printf 'main 1\na\0b 5\n' >text && try text
printf 'main 0\n' >text && try text
printf 'main 9999999999999\nmain 2\n' >text && try text
printf 'main 18446744073709551616\n' >text && try -f folded text
printf '0x10\n1\nnot an address\n' >text && try text
printf 'web 1 [8192] 1.0: x:\n' >text && try text
printf 'web 1 [000] 1.0: x:\n\tnothing\n' >text && try text
printf 'web 1 [000] 1.0: x:\n\n\t10 a\n' >text && try text
printf 'Call Trace:\n [<10>] a\n' >text && try text
printf 'vcpu0:\nrip: 10\nCall Trace:\n [<10] a\n' >text && try text
printf 'vcpu9000:\n' >text && try text
head -c 65536 /dev/zero | tr '\0' a >text && echo ' 1' >>text && try text
{ echo main 1 && head -c 1048577 /dev/zero | tr '\0' a; } >text && try text
head -c 3000 "$UNIPROF" >text && try text
awk 'BEGIN { for (i = 0; i < 65537; i++) print "web " i " [000] 1.0: x:\n" }' >text
try text
# What was there stays what it was.
printf 'main 1\n' >text && import -o kept text
printf 'main 2\nmain\n' >text && import -o kept text
report -i kept --format folded
ls
import -o kept -f folded /dev/null
report -i kept --format folded
import -o no/where text

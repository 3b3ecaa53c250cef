# Invalid lines are skipped and counted; the rest is imported, exit code 3.
. "$CLI/lib.sh"
try()
{
	import -o a.up "$@"
	report -i a.up --format folded
}
printf 'main 1\nmain;other\nmain;leaf 2\n' >text && try text
printf 'main 1\na 2\n 5\n;; 6\n' >text && try text
{ echo main 1 && head -c 3000000 /dev/zero | tr '\0' a; printf '\nmain;leaf 2'; } >text
try text
{ echo main 1 && head -c 65536 /dev/zero | tr '\0' a; printf ';b 3\nmain;leaf 2\n'; } >text
try text
echo "# a broken line drops its whole sample or trace"
printf '0x10\n1\nnot an address\n0x20\n1\n0x30\n1\n' >text && try text
printf 'web 1 [8192] 1.0: x:\n\t10 a\n\nweb 1 [0] 1.0: x:\n\t20 b\n\n' >text && try text
printf 'vcpu0:\nrip: 10\nCall Trace:\n [<10] a\nvcpu1:\nrip: 20 b\n' >text && try text
{
	printf 'web 1 [0] 1.0: x:\n\t10 a\n\t20 ' && head -c 65536 /dev/zero | tr '\0' a
	printf '\n\t30 c\n\nweb 1 [0] 1.0: x:\n\t20 b\n\n'
} >text
try text
echo "# but a line that is not a frame does not drop the sample around it"
printf 'web 1 [0] 1.0: x:\n\t10 a\n\tnothing\n\t20 b\n\n\t30 c\n' >text && try text
echo "# samples before a limit is reached are kept"
printf 'main 999999999999999\nmain 2\nmain 3\n' >text && try text
awk 'BEGIN { for (i = 0; i < 65537; i++) print "web " i " [000] 1.0: x:\n" }' >text
try text | tail -n 1

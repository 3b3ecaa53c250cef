# Text of the first uniprof, made from a recording's addresses, gets the same names.
. "$CLI/lib.sh"
make_recording plain
{
	echo "#unikernel stack tracer using libxc hypercall interface"
	echo "#tracing domid 7 on 2017-04-22 10:00:00 CEST (+0200)"
	echo
	report -i plain.up --format perf-script |
		awk 'NF == 0 { print "1\n" } /^\t/ { print "0x" $1 }'
} >plain.txt 2>err
import -o again.up plain.txt
report -i plain.up --format folded -s "$data/plain.sym" >wanted
report -i again.up --format folded -s "$data/plain.sym" | diff wanted - && echo the same
info again.up | grep -E '^  (id|times) '
# Names, a broken trace, an empty one, and one without an end.
cat >names.txt <<'END'
leaf+0x10
main+0x20
1

ffffffff81001234
0x1108
main
0

1

leaf+0x14
END
import -o names.up names.txt
report -i names.up --format folded
report -i names.up --format perf-script 2>err

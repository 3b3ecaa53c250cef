# The processes of a domain are told apart by their address spaces, with symbols for each.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >two.up <<END
info frequency 1000000
domain 0 7 2 1 2 linux
domain 1 9 2 1 1 web
sample 1000000000 0 1 0 0x1004 0x1104
space 0x3000
sample 1001000000 0 1 0 0x1004 0x1104
sample 1001000000 1 1 0 0xffffffff81000010 0x1104
sample 1002000000 0 3 0 0x1008
space 0x5000
sample 1003000000 0 1 0 0x1004 0x1104
sample 1004000000 1 1 0 0xffffffff81000010 0x1104
flush
sample 1005000000 0 1 0 0x1084
space 0x3000
sample 1006000000 0 1 0 0x1004 0x1104
in 1
sample 1006000000 0 1 0 0x1004
end 1 2000000000
END
cat >a.sym <<END
1000 T encode
1080 T pack
1100 T main
1200 D data
END
cat >b.sym <<END
1000 T decode
1080 T unpack
1100 T start
1200 D data
END
echo "ffffffff81000000 T kernel" >kernel.sym
echo "ffffffff81000100 T end" >>kernel.sym
all='-s kernel.sym -s a.sym,domain=linux,space=0x3000 -s b.sym,space=0x5000'
echo "# together"
report two.up --format folded -s kernel.sym -s a.sym
echo "# apart"
report two.up --format folded -s kernel.sym -s a.sym --per-process
echo "# each with its names"
# shellcheck disable=SC2086 # words
report two.up --format folded $all
# shellcheck disable=SC2086
report two.up $all --domain linux
for format in perf-script rows histogram-csv tree; do
	echo "# $format"
	# shellcheck disable=SC2086
	report two.up --format $format --domain linux $all
done
echo "# time that passed on the vCPU, whichever process ran before"
report two.up --format folded --weight wall --per-process -s kernel.sym -s a.sym
echo "# one of two recordings, and all again"
report two.up two.up --format folded --per-process --domain linux -s kernel.sym -s a.sym

echo "# no such process, no such number"
report two.up --format folded -s a.sym,space=0x4000 -s a.sym,domain=web,space=0x5000
for spec in a.sym,space= a.sym,space=x a.sym,space=0 a.sym,space=-1 no.sym,space=1; do
	report two.up --format folded -s $spec
done
"$UNIPROF" archive -s a.sym,space=0x3000 two.up || echo "exit code $?"
cp a.sym 'a.sym,space=0x5000'
report two.up --format folded -s a.sym,space=0x5000
printf 'a;b 2\n' | import -o imported.up 2>/dev/null
report imported.up --format folded --per-process

echo "# more processes than are told apart"
{
	echo "domain 0 7 2 1 2 linux"
	awk 'BEGIN { for (i = 1; i <= 4100; i++) print "space", i "\nsample", 1000000000 + i * 1000, "0 1 0 0x1004" }'
	echo "end 1 2000000000"
} | "$MAKE_RECORDING" >many.up
report many.up --format folded -s b.sym --per-process |
	awk '{ parts++; total += $NF } /^linux;/ { print } END { print parts, "parts,", total, "samples" }'

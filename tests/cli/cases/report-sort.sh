# Histograms by file and by domain: each sample counts once in the total of a row, also if its
# chain has several functions of the file. Addresses without a name are listed, and -n cuts.
. "$CLI/lib.sh"
# Two programs, one of which has names; the kernel's addresses are in no file.
"$MAKE_RECORDING" >two.up <<'END'
info start 1000
domain 0 3 2 1 1 web
domain 1 4 2 1 1 db
sample 2000 0 1 0 0x1004 0x1108 0x1110
sample 3000 0 1 0 0x2004 0x1108
sample 4000 0 1 0 0xffffffff81000010 0x2010 0x1108
sample 5000 0 1 0 0x2004
in 1
sample 6000 0 1 0 0x2014 0x1110
sample 7000 0 1 0
end 1 8000
END
cat >program.sym <<'END'
0000000000001000 0000000000000100 T leaf
0000000000001100 0000000000000100 T main
END
printf '%016x %016x T copy\n%016x %016x T move\n' 8192 16 8208 16 >library.sym
set -- -i two.up -s program.sym -s library.sym
for sort in dso domain dso,sym domain,dso total name; do
	echo "== $sort"
	report "$@" --sort $sort 2>/dev/null
done
for format in histogram-csv histogram-json; do
	for sort in dso domain comm,dso,sym; do
		echo "== $format $sort"
		report "$@" --sort $sort --format $format 2>/dev/null | sed '/"recording"/,/^	}/d'
	done
done
echo "== per vCPU, two rows"
report "$@" --sort dso --per-vcpu -n 2 2>/dev/null
echo "== as in perf"
report "$@" -g --stdio --no-children --children -n 1 2>&1 >/dev/null | grep -v no.name
report "$@" >default 2>/dev/null
report "$@" --stdio --no-children --children 2>/dev/null | cmp - default && echo "no difference"
echo "== mistakes"
report "$@" --sort dso,foo
report "$@" --sort ''
report "$@" --sort dso --format tree
report "$@" -n 0
report "$@" -n 1 --format folded

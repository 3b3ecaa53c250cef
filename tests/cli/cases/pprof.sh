# Go's pprof reads --format pprof.
. "$CLI/lib.sh"
command -v go >/dev/null || skip "golang-go is not installed"
pprof()
{
	go tool pprof "$@" 2>&1
}

make_recording web two odd recursion
for name in web odd recursion; do
	report -i $name.up --format pprof -s "$data/$name.sym" -o $name.pb.gz 2>/dev/null
	pprof -top $name.pb.gz
done
report -i two.up --format pprof -s "$data/web.sym" -o two.pb.gz 2>/dev/null
report -i two.up --format pprof -s "$data/web.sym" --weight cpu-time -o cpu.pb.gz \
	2>/dev/null
report -i two.up --format pprof -s "$data/web.sym" --weight wall -o wall.pb.gz 2>/dev/null
echo "== chains, vCPUs and domains"
pprof -traces web.pb.gz
pprof -traces two.pb.gz
pprof -tags two.pb.gz
pprof -top -tagfocus='vcpu=^1$' web.pb.gz
pprof -top -tagignore='domain=^web$' two.pb.gz
echo "== two hosts"
sed 's/^info host xen1/info host xen2/' "$data/web.txt" | "$MAKE_RECORDING" >xen2.up
report --format pprof -s "$data/web.sym" -o hosts.pb.gz web.up xen2.up 2>/dev/null
pprof -tags hosts.pb.gz
echo "== all fields"
pprof -raw web.pb.gz
pprof -raw cpu.pb.gz | head -n 12
pprof -top wall.pb.gz
echo "== compared"
pprof -top -diff_base web.pb.gz two.pb.gz
pprof -top -base web.pb.gz web.pb.gz
echo "== the program is the first mapping, also if a kernel or a library is sampled first"
cat >kernel.txt <<'END'
web 1/1 [000] 1.0: 1 cycles:
	ffffffff81000010 do_syscall_64+0x10 ([kernel.kallsyms])
	7f0000001010 write+0x10 (/usr/lib/libc.so.6)
	401010 main+0x10 (/srv/web)

web 1/1 [000] 2.0: 1 cycles:
	7f0000001010 write+0x10 (/usr/lib/libc.so.6)
	401010 main+0x10 (/srv/web)

web 1/1 [000] 3.0: 1 cycles:
	401010 main+0x10 (/srv/web)

END
"$UNIPROF" import -o kernel.up kernel.txt 2>/dev/null
report -i kernel.up --format pprof -o kernel.pb.gz
pprof -top kernel.pb.gz

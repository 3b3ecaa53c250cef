# Processes of which the recording has the pid and the name.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >two.up <<END
info frequency 1000000
domain 0 7 2 1 2 linux
domain 1 9 2 1 1 other
sample 1000000000 0 1 0 0x1004 0x1104
space 0x3000
process 123 nginx
sample 1001000000 0 1 0 0x1004 0x1104
sample 1001000000 1 1 0 0xffffffff81000010 0x1104
sample 1002000000 0 3 0 0x1008
space 0x5000
sample 1003000000 0 1 0 0x1004 0x1104
process 4194303 java
sample 1003000000 0 1 0 0x7f0000000014 0x1104
flush
sample 1004000000 0 1 0 0x7f0000000014 0x1104
space 0x3000
process 124 nginx
sample 1005000000 0 1 0 0x1084
in 1
space 0x3000
process 123 a;b c
sample 1006000000 0 1 0 0x1004
space 0x6000
process 2 kthreadd
sample 1006000000 0 1 0 0x1004
end 1 2000000000
END
cat >nginx.sym <<END
1000 T encode
1080 T pack
1100 T main
1200 D data
END
echo "ffffffff81000000 T kernel" >kernel.sym
# A perf map file, as the process 4194303 of the guest has written it.
echo "7f0000000010 20 Lcom/example/Main;::run" >perf-4194303.map
symbols="-s kernel.sym -s nginx.sym,comm=nginx -s perf-4194303.map,comm=java"

echo "== info"
info two.up | sed -n '/^Processes/,/^Call/p'
echo "== folded"
# shellcheck disable=SC2086 # several options
report two.up $symbols --format folded
echo "== perf-script"
# shellcheck disable=SC2086
report two.up $symbols --format perf-script
echo "== rows"
report two.up --per-process --format rows | head -n 6
echo "== one picture, without the option"
report two.up -s kernel.sym -s nginx.sym --format folded --domain linux
echo "== parts in any order"
report two.up -s nginx.sym,space=0x3000,comm=nginx,domain=linux --format folded --domain linux
echo "== wrong"
report two.up -s nginx.sym,comm=apache --format folded >wrong.folded
report two.up -s nginx.sym,comm=nginx,space=0x5000,domain=linux --format folded >wrong.folded
report two.up -s nginx.sym,comm= --format folded
report two.up -s nginx.sym,comm=a,comm=b --format folded

# --gdb: how an address is written, what it excludes, and nobody there. None of it leaves a
# recording behind.
try()
{
	"$UNIPROF" "$@" 2>&1
	echo "exit code $?"
}
for address in x unix: tcp:host tcp:host:0 udp:host:1; do
	try record --gdb $address
done
try record --gdb unix:x web
try record --gdb unix:x -a
try record --gdb unix:x --follow
try stack --gdb unix:x web
try top --batch 1 --gdb unix:x web
try top -i x --gdb unix:x
try flamegraph --gdb unix:x web
try flamegraph --gdb unix:x --config web.cfg
try record --gdb unix:x
try stack --gdb tcp:127.0.0.1:1
ls

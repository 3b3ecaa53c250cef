# The file named by -o is kept until the new one is complete: after errors, on a full disk,
# and if the program is killed. No temporary file is left behind.
. "$CLI/lib.sh"
unshare -rm true 2>/dev/null || skip "no file system can be mounted here"
make_recording plain
{ begin_big && echo "end 1 90000000000"; } | "$MAKE_RECORDING" >big.up
name_big
echo old >out
cp plain.up old.up
mkdir full
report -i plain.up -s a.sym -o out
report -i plain.up -s "$data/plain.sym" --domain nobody -o out
report -i text -o out
printf 'a 1\n' | import -f xenctx -o out
cat out
for signal in INT TERM HUP KILL; do
	mkfifo pipe
	env --default-signal=INT "$UNIPROF" report -i pipe -o out &
	exec 3>pipe
	head -c 1000 big.up >&3
	sleep 0.2
	{
		kill -$signal $!
		wait $!
		code=$?
	} 2>messages
	echo "ended with $(kill -l $code)"
	exec 3>&-
	rm pipe messages
done
cat out
unshare -rm sh -e <<'END'
mount -t tmpfs -o size=64k none full
cd full
echo old >out
cp out recording
try()
{
	"$UNIPROF" "$@" || echo "exit code $?"
}
try report -i ../big.up -s ../big.sym --format perf-script -o out
try diff -s ../big.sym --format flamegraph -o out ../plain.up ../big.up >/dev/null
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "f%d;g%d %d\n", i * 7, i * i, i }' >../big.folded
try import -o recording ../big.folded
cat out recording
ls -A
END
ls -A

# A recording that is written meanwhile, in pieces that are no whole chunks: its last table is
# that of the whole, the first one has only what was there. With --window, old samples go.
. "$CLI/lib.sh"

# long: 100 s of one vCPU, in chunks of a second; the second half has another function
long()
{
	echo 'info start 1000000000'
	echo 'info frequency 10000'
	echo 'domain 0 3 2 1 1 web'
	awk 'BEGIN {
		for (i = 1; i <= 1000; i++) {
			printf "sample %.0f 0 1 0 %s\n", 1000000000 + i * 100000000,
				i <= 500 ? "0x1004" : "0x1104"
			if (i % 10 == 0)
				print "pause 1000000 10\nflush"
		}
		print "end 1 101000000000"
	}'
}

# until_there FILE TEXT: waits until the file contains the text
until_there()
{
	tries=0
	until grep -qs -- "$2" "$1"; do
		tries=$((tries + 1))
		[ $tries -lt 2400 ] || { echo "no '$2' in $1"; cat "$1"; exit 1; }
		sleep 0.05
	done
}

long | "$MAKE_RECORDING" >whole.up || exit 1
size=$(wc -c <whole.up)
"$UNIPROF" report whole.up >report.out 2>/dev/null

head -c 333 whole.up >grows.up
"$UNIPROF" top -i grows.up --batch 1000000 --delay 0.05 >top.out 2>top.err &
until_there top.out '^# web: '
at=334
while [ $at -le "$size" ]; do
	tail -c +$at whole.up | head -c 777 >>grows.up
	at=$((at + 777))
	sleep 0.01
done
wait $! || echo "exit code $?"
awk 'BEGIN { RS = "" } { last = $0 } END { print last }' top.out | sed 1d | diff report.out - &&
	echo "the last table is that of report"
grep '^# web: ' top.out | head -n 1 | sed 's/[0-9.]* samples in [0-9.]* s/N samples in N s/'
awk '/^# web: / { if ($3 + 0 < last) print "fewer samples than before"; last = $3 + 0 }' top.out

echo window
"$UNIPROF" top -i whole.up --window 20 --batch 1 2>/dev/null
echo pipe
{ head -c 1000 whole.up; sleep 0.2; tail -c +1001 whole.up; } |
	"$UNIPROF" top -i - --window 60 --batch 1000000 --delay 0.05 2>/dev/null |
	awk 'BEGIN { RS = "" } { last = $0 } END { print last }'

echo "the first table waits for the first samples"
"$MAKE_RECORDING" >late.up <<'END'
info start 1000000000
domain 0 3 2 1 1 web
sample 2000000000 0 1 0 0x1004
flush
sample 3000000000 0 1 0 0x1104
end 1 4000000000
END
{ head -c 150 late.up; sleep 0.5; tail -c +151 late.up; sleep 0.2; } |
	"$UNIPROF" top -i - --batch 1 --delay 0.05 2>/dev/null | sed 1,2d

echo "waiting"
: >empty.up
"$UNIPROF" top -i empty.up --batch 1 --delay 0.05
echo "exit code $?"
exec 3>late.up
"$UNIPROF" top -i late.up --batch 1000000 --delay 0.05 >top.out 2>late.err 3>&- &
until_there late.err 'waiting for'
sleep 0.5
cat whole.up >&3
exec 3>&-
wait $! || echo "exit code $?"
cat late.err
awk 'BEGIN { RS = "" } { last = $0 } END { print last }' top.out | sed 1d | diff report.out - &&
	echo "the last table is that of report"

echo damage
{ head -c 1000 whole.up; tail -c +1002 whole.up; } >damaged.up
"$UNIPROF" top -i damaged.up --batch 1 >/dev/null 2>top.err
echo "exit code $?"
grep damaged top.err
echo 'this is no recording, but some text' >text
"$UNIPROF" top -i text --batch 1
echo "exit code $?"
"$UNIPROF" top -i /dev/null --batch 1
echo "exit code $?"

# top of a recording with waits: they are shown with --weight wait; of a window, a wait that began before
# it and goes on counts from its start, though its chunk is left out, unless it was over before.
. "$CLI/lib.sh"
cat >web.sym <<END
1000 T futex_wait
1100 T do_read
1300 T main
1500 D data
END
{
	echo "info start 1000000000
domain 0 1 4 1 1 web
sample 1000001000 0 1 0 0x1304
space 0x9000
process 10 nginx
thread 10 nginx
wait 1000000000 0 1 0 0x1004 0x1304
thread 11 over
wait 1000000000 0 1 0 0x1104 0x1304
waits 2000000000 100000000 10 2 0 0 12345
thread 11 over
wait 1000000000 2500000000 1 0 0x1104 0x1304
waits 3000000000 100000000 10 2 0 0 12345"
	for second in 2 3 4 5 6 7 8 9 10 11; do
		echo "sample ${second}000001000 0 1 0 0x1304
flush"
	done
	echo "thread 12 new
wait 10500000000 11000000000 2 0 0x1104 0x1304
waits 11000000000 100000000 80 3 0 0 12345
end 1 11000001000"
} | "$MAKE_RECORDING" >web.up
top()
{
	"$UNIPROF" top "$@" || echo "exit code $?"
}
echo "# all of it"
top -i web.up -s web.sym --batch 1 --weight wait
echo "# the last 4 s"
top -i web.up -s web.sym --batch 1 --weight wait --window 4
top -i web.up -s web.sym --batch 1 --weight wait --window 4 --wait-filter --min-wait 1s --per-thread
echo "# samples"
top -i web.up -s web.sym --batch 1 --window 4
top --batch 1 --weight wait web
top -i web.up --batch 1 --waits
sed 's/wait.*//' "$data/web.txt" | "$MAKE_RECORDING" >none.up
top -i none.up --batch 1 --weight wait

echo "# on a terminal: the key b goes from samples to functions, to threads, and back"
command -v tmux >/dev/null || skip 'tmux is not installed'
. "$CLI/../terminal.sh"
trap end_terminal EXIT
show()
{
	shown | grep '%'
}
cat >start <<END
PS1='$ ' PATH=$(dirname "$UNIPROF"):\$PATH
END
begin_terminal 80 24
type_line 'clear; uniprof top -i web.up -s web.sym 2>/dev/null; echo "exit $?"'
until_shown '11 samples'
keys b
until_shown 'what threads wait for, by function' futex_wait
show
keys b
until_shown 'by thread' 'nginx[10]:new'
show
keys v
until_shown 'not those of vCPUs'
keys b
until_shown '11 samples'
keys q
until_shown 'exit 0'

# top on a terminal, which tmux is: keys, sizes, Ctrl-Z, signals.
. "$CLI/lib.sh"
command -v tmux >/dev/null || skip 'tmux is not installed'

. "$CLI/../terminal.sh"
trap end_terminal EXIT

# show WHAT: prints the terminal, without empty lines
show()
{
	echo "-- $1"
	shown | grep .
}

has_keys_in()
{
	shown | sed -n "$1p" | grep -q '^q quit'
}

# coloured: counts the lines with a part in red
coloured()
{
	echo "-- red: $(tmux capture-pane -e -p | grep -c "$(printf '\033')\\[31m")"
}

# until_last ROW: waits until the list of keys is there
until_last()
{
	until_terminal "the keys are not in row $1" has_keys_in "$1"
}

make_recording web two
cp "$data/web.sym" .
cat >start <<END
PS1='$ ' PATH=$(dirname "$UNIPROF"):\$PATH
stty -g >stty.before
END
begin_terminal 80 24

type_line 'clear; uniprof top -i web.up -s web.sym 2>/dev/null; echo "exit $?"'
until_shown 'uniprof top: web, ended' 'main'
show '80 columns'
coloured
keys t
until_shown '--50.0%--'
show 'tree'
keys i
until_shown '`--'
until_gone '90.0%  main'
show 'inverted'
keys i
until_shown '90.0%  main'
keys Down Enter
until_gone '--40.0%--leaf'
show 'a closed branch'
keys Enter
until_shown '--40.0%--leaf'
keys -
until_shown '+  90.0%'
until_gone leaf
keys + t Down Down Enter
until_shown '+  50.0%' 'main'
show 'callers of middle'
keys t v
until_shown vcpu0 vcpu1
show 'per vCPU'
keys v s
until_shown 'sorted by total'
keys /
until_shown 'regular expression'
type_line 'idle'
until_shown 'functions: idle'
show 'filter'
keys /
type_line '('
until_shown 'invalid regular expression'
show 'a wrong filter changes nothing'
keys / Escape /
type_line ''
until_gone 'functions: idle'
keys d
type_line 'nobody'
until_shown "no domain 'nobody' in web.up (domains: web (3))"
keys d
type_line 'web'
until_shown 'domain: web'
keys h
until_shown 'call tree'
show 'help'
keys h
until_shown middle

resize_terminal 200 60
until_last 60
until_shown rounds/s 0x9004
show '200 columns'
resize_terminal 30 8
until_last 8
until_shown rounds/s '9  90.0%'
show '30 columns'
keys End
until_shown '1  10.0%       1  10.0%'
until_gone '9  90.0%'
show 'scrolled down'
keys Home
until_shown '9  90.0%'
resize_terminal 80 24
until_last 24

keys w
type_line 'saved.up'
until_shown 'saved in saved.up'
keys w
type_line 'web.up'
until_shown 'refusing to overwrite web.up'

keys C-z
until_shown Stopped
type_line 'stty -g | cmp - stty.before && echo the terminal is as "be"fore'
until_shown 'the terminal is as before'
type_line fg
until_shown 'uniprof top: web, domain: web, ended' middle
keys q
until_gone 'uniprof top:'
type_line 'echo "exit $?"'
until_shown 'exit 0'
type_line 'clear; stty -g | cmp - stty.before && echo the terminal is as "it" was'
until_shown 'the terminal is as it was'

echo "-- saved"
"$UNIPROF" report saved.up -s web.sym >saved 2>/dev/null
"$UNIPROF" report web.up -s web.sym 2>/dev/null | diff - saved && echo "has the same report"

# Names can't reach the terminal as escapes; symbols can be given later.
printf '0000000000001000 T evil\033]0;title\007\233name\n' >evil.sym
type_line 'clear; NO_COLOR=1 uniprof top -i two.up 2>/dev/null; echo "exit $?"'
until_shown 0x1104
keys y
type_line nothing.sym
until_shown "can't open nothing.sym"
keys y
type_line evil.sym
until_shown 'evil?]0:title??name'
show 'an evil name'
coloured

# A signal ends top as q does.
kill -TERM "$(tmux list-panes -F '#{pane_pid}' | xargs -n 1 pgrep -P)"
until_shown 'exit 0'
type_line 'clear; stty -g | cmp - stty.before && echo the terminal is still as "be"fore'
until_shown 'still as before'

# top says what it waits for, and whether a recording may still come.
exec 3>held.up
type_line 'clear; uniprof top -i held.up; echo "exit $?"'
until_shown 'waiting for the start of the recording'
show 'a recording that has not begun'
exec 3>&-
until_shown 'uniprof top, not being written'
keys q
until_shown 'exit 0'

# A frozen top keeps its samples, and shows other views of them.
head -c 400 web.up >grows.up
type_line 'clear; uniprof top -d 0.05 -i grows.up -s web.sym; echo "exit $?"'
until_shown 'web: 6 samples'
keys f
until_shown frozen
shown | grep samples >frozen
cat web.up | tail -c +401 >>grows.up
until_shown ended
keys v
until_shown vcpu0
shown | grep samples | cmp - frozen && echo "-- frozen: the same samples"
keys f
until_gone frozen
shown | grep ' 10 samples'
keys q
until_shown 'exit 0'

# The library leaks memory if the terminal is unknown.
type_line 'clear; ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 TERM=nothing uniprof top -i web.up; echo "exit $?"'
until_shown 'exit 1'
show 'an unknown terminal'

# SPDX-License-Identifier: BSD-3-Clause
# A terminal, which tmux is, for the tests that source this: a shell in it, keys, what is shown.
# shellcheck shell=sh

# A private server, whose sockets have a short path.
TMUX_TMPDIR=$(mktemp -d /tmp/uniprof.XXXXXX) || exit 1
export TMUX_TMPDIR
unset TMUX

# end_terminal: also ends what runs in it
end_terminal()
{
	tmux kill-server 2>/dev/null
	rm -rf "$TMUX_TMPDIR"
}

# begin_terminal COLUMNS ROWS: a shell that has read the file "start"; its prompt is there
begin_terminal()
{
	TERM=screen tmux -f /dev/null new-session -d -x "$1" -y "$2" \
		'TERM=screen ENV=./start exec sh -i'
	until_shown '$'
}

# keys KEY...: types them
keys()
{
	tmux send-keys "$@"
}

# type_line TEXT
type_line()
{
	tmux send-keys -l "$1"
	tmux send-keys Enter
}

shown()
{
	tmux capture-pane -p | sed 's/ *$//'
}

# resize_terminal COLUMNS ROWS
resize_terminal()
{
	tmux resize-window -x "$1" -y "$2"
}

# until_terminal WHAT COMMAND...: waits up to 90 s until the command succeeds
until_terminal()
{
	what=$1
	deadline=$(($(date +%s) + 90))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt $deadline ] || { echo "$what:"; shown; exit 1; }
		sleep 0.05
	done
}

shows()
{
	shown | grep -qF -- "$1"
}

shows_not()
{
	! shows "$1"
}

# until_shown TEXT...: waits until all of the texts are on the terminal
until_shown()
{
	for text; do
		until_terminal "'$text' is not shown" shows "$text"
	done
}

# until_gone TEXT
until_gone()
{
	until_terminal "'$1' is still shown" shows_not "$1"
}

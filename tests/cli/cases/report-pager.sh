# On a terminal, a report is shown by the pager, with notes in their place, at the terminal's
# width; not into a file or a pipe, nor with --no-pager. A pager that does not exist is no error.
. "$CLI/lib.sh"
command -v script >/dev/null || skip "script (bsdutils) is not installed"
make_recording web
export TERM=xterm
# on_terminal COMMAND: what a terminal of 60 columns shows
on_terminal()
{
	script -qec "stty cols 60; $1" typescript >/dev/null </dev/null
	echo "exit code $?"
	tr -d '\r' <typescript | sed '/^Script /d'
}
export PAGER='sed s/^/page:/'
on_terminal "$UNIPROF report web.up -s $data/web.sym"
echo "== diff"
make_recording two
on_terminal "$UNIPROF diff web.up two.up -s $data/web.sym" | grep -v '[0-9]\.[0-9][0-9]%'
on_terminal "$UNIPROF diff web.up web.up -s $data/web.sym --no-pager" | grep -c -e page: -e main
echo "== none"
on_terminal "$UNIPROF report web.up -s $data/web.sym --no-pager" | grep -c -e page: -e main
on_terminal "$UNIPROF report web.up -o file; $UNIPROF report web.up | wc -l" | grep -c page:
for pager in cat '' no-such-pager; do
	PAGER=$pager
	on_terminal "$UNIPROF report web.up -s $data/web.sym" | grep -c -e page: -e main
done
echo "== UNIPROF_PAGER comes first, and may end early"
export UNIPROF_PAGER='head -n 1'
on_terminal "$UNIPROF report web.up -s $data/web.sym"
echo "== errors before the report are not paged"
on_terminal "$UNIPROF report none.up"

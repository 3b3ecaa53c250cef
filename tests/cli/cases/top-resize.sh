# A terminal whose size changes hundreds of times, to a few rows, to thousands of columns, to none:
# top goes on, and shows everything again at the last size.
. "$CLI/lib.sh"
command -v python3 >/dev/null || skip 'python3 is not installed'

make_recording web
python3 "$CLI/terminal.py" "$UNIPROF" web.up resize

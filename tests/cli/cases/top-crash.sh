# When top crashes, the terminal is as it was, and the signal is what ends top.
# Not with sanitizers: they end the process in their own way after a fault
. "$CLI/lib.sh"
command -v python3 >/dev/null || skip 'python3 is not installed'

make_recording web
python3 "$CLI/terminal.py" "$UNIPROF" web.up crash

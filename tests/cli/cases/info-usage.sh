# Wrong usage: one line, exit code 2.
. "$CLI/lib.sh"
info --nonsense
info -i
info one.up two.up

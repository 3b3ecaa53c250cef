# The full description of a recording.
. "$CLI/lib.sh"
make_recording web
info web.up

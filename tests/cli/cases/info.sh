# All that is known of a recording.
. "$CLI/lib.sh"
make_recording web
info web.up

# The exact output of the format.
. "$CLI/lib.sh"
make_recording web
report -i web.up --format folded -s "$data/web.sym"

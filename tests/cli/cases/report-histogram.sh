# The exact output of the format.
. "$CLI/lib.sh"
make_recording web
report -i web.up --format histogram -s "$data/web.sym"

# The exact output of the format.
. "$CLI/lib.sh"
make_recording web
report -i web.up --format perf-script -s "$data/web.sym"

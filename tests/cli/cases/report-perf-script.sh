# The format's exact output.
. "$CLI/lib.sh"
make_recording web
report -i web.up --format perf-script -s "$data/web.sym"

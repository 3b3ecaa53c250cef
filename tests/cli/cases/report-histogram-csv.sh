# The format's exact output.
. "$CLI/lib.sh"
make_recording web
report -i web.up --format histogram-csv -s "$data/web.sym"

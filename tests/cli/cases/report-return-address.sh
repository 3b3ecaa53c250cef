# A call as a function's last instruction leaves a return address in the next
# function, which is not who called; a sample at that address is in it.
. "$CLI/lib.sh"
make_recording boundary
report -i boundary.up --format folded -s "$data/boundary.sym"
report -i boundary.up --format perf-script -s "$data/boundary.sym"
report -i boundary.up --format histogram-csv -s "$data/boundary.sym"

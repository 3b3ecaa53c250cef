# If a call is the last instruction of a function, the return address is in the next
# function. A caller there is attributed to the function with the call; a sample at that
# address belongs to the next function.
. "$CLI/lib.sh"
make_recording boundary
report -i boundary.up --format folded -s "$data/boundary.sym"
report -i boundary.up --format perf-script -s "$data/boundary.sym"
report -i boundary.up --format histogram-csv -s "$data/boundary.sym"

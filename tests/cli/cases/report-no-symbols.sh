# Without symbols: addresses in the stacks, one row in the histogram, and why.
. "$CLI/lib.sh"
make_recording plain
report -i plain.up --format folded
report -i plain.up --format histogram
report -i plain.up --format perf-script | head -n 4

# Without symbols, stacks and histogram show addresses, with a note.
. "$CLI/lib.sh"
make_recording plain
report -i plain.up --format folded
report -i plain.up --format histogram
report -i plain.up --format perf-script | head -n 4
report -i plain.up --per-vcpu --format histogram-csv
# If some addresses have names, all others share one row.
printf '1000 100 leaf\n' >leaf.sym
report -i plain.up -s leaf.sym

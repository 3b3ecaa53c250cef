# A function that is in a chain several times counts once in its total.
. "$CLI/lib.sh"
make_recording recursion
report -i recursion.up --format folded -s "$data/recursion.sym"
report -i recursion.up --format histogram-csv -s "$data/recursion.sym"

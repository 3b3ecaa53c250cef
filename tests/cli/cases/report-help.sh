# Help and the list of formats go to standard output.
. "$CLI/lib.sh"
report --help
report --format help
report --help >long
report -h | cmp - long && echo "-h: the same"
info --help

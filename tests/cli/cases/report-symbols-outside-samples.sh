# Symbols that can't be the guest's: the report shows what they cover.
. "$CLI/lib.sh"
make_recording plain
report -i plain.up --format folded -s "$data/plain.sym@0xffff800000000000"
echo "--" >&2
# Covers the range of the samples, but names few of them.
printf '0100 10 T early\n1000 4 T stub\n1180 10 T late\n' >gaps.sym
report -i plain.up --format folded -s gaps.sym

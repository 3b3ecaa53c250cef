# The recorder was killed or is still running.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >open.up <<END
info start 1000000000
domain 0 1 2 1 1 open
sample 2000000000 0 1 0 0x1004 0x1108
sample 3500000000 0 1 0 0x1104
END
report -i open.up --format folded -s "$data/plain.sym"
head -c -5 open.up >cut.up
report -i cut.up --format folded -s "$data/plain.sym"
info open.up

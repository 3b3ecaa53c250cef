# Chunks of unknown types are skipped.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >more.up <<END
domain 0 1 2 1 1 more
sample 2000 0 1 0 0x1004 0x1108
chunk 77 0102030405
sample 3000 0 1 0 0x1104
end 1 4000
END
report -i more.up --format folded -s "$data/plain.sym"

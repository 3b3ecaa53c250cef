# Invalid payloads with a correct checksum are damage, too.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >bad.up <<END
domain 0 1 2 1 1 bad
sample 2000 0 1 0 0x1004 0x1108
chunk 3 0101050302ffff
sample 3000 0 1 0 0x1104
chunk 1 01
chunk 2 0101ff
end 1 4000
END
report -i bad.up --format folded -s "$data/plain.sym"
info bad.up | grep samples

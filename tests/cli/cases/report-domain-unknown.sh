# Reports of domains that the recording does not describe, or describes only at its end.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >odd.up <<END
domain 1 12 2 1 2 data base
sample 1000 0 1 0 0x1004 0x1108
in 5
sample 1500 0 1 0 0x1104
in 1
sample 2000 1 1 0 0x1104
in 2
sample 3000 0 1 0 0x1104
flush
chunk 2 01 01 02 02 01 09
end 1 5000
END
report -i odd.up --format folded -s "$data/plain.sym"
report -i odd.up --format folded -s "$data/plain.sym" --domain 12
# An old recording without DOMAIN chunks has one domain.
"$MAKE_RECORDING" >none.up <<END
sample 1000 0 1 0 0x1004 0x1108
end 1 5000
END
report -i none.up --format folded -s "$data/plain.sym"
report -i none.up --format folded -s "$data/plain.sym" --domain web

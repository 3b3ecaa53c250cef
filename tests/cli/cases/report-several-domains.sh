# perf-script keeps domains separate: their names, ids and vCPUs.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >two.up <<END
domain 0 3 2 1 1 web
domain 1 12 2 1 2 data base
domain 3 13 2 1 2 t
sample 1000002000 0 1 0 0x1004 0x1108
in 1
sample 1000003000 1 1 0 0x1104
in 2
sample 1000004000 0 1 0 0x1104
in 3
sample 1000005000 0 1 0 0x1104
end 1 2000000000
END
report -i two.up --format perf-script -s "$data/plain.sym"

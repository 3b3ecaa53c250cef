# Names that follow the first samples, as those of a kernel's memory do, are known to outputs that
# show or choose each sample by names, unless the recording is read from a pipe.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >names.up <<'END'
domain 0 1 2 1 1 later
sample 1000 0 1 0 0x1004 0x1108
# 0x1107 and the next two, twice: f and g
chunk 5 01 01 02 03 03 8e 44 00 04 02 07 08 05 04 01 66 01 67
sample 2000 0 1 0 0x1004 0x1108
end 1 4000
END
report -i names.up --format folded
report -i names.up --format perf-script
report -i names.up --parent '^f$' --format folded
report -i names.up --format rows | cut -d , -f 4-
cat names.up | report -i - --format folded
cat names.up | report -i - --parent '^f$' --format folded

# Invalid names in a recording are damage; odd ones are escaped.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >names.up <<'END'
domain 0 1 2 1 1 bad
# no names; a domain beyond the limit; 2^20 + 1 names; a field that is cut
chunk 5 0101010301040500
chunk 5 01010102038080040301040502 0178
chunk 5 0103818040
chunk 5 010101030288400508 04 61 3b 1b 63
# 0x1004: "a;", ESC, "c", of a DSO " y"; 0x1107, twice
chunk 5 01 01 01 03 02 88 40 04 01 04 05 05 04 61 3b 1b 63 06 04 03 78 20 79
chunk 5 01 01 02 03 03 8e 44 00 04 02 07 08 05 04 01 66 01 67
sample 2000 0 1 0 0x1004 0x1108
end 1 4000
END
report -i names.up --format folded
report -i names.up --format perf-script 2>err
info names.up 2>err | grep names

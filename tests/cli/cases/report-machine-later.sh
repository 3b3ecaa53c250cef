# A CPU type added by a later version is unknown, not an error: symbols still work as far as
# possible.
. "$CLI/lib.sh"
cat >later.txt <<'END'
info start 1000
domain 0 3 2 9 1 web
sample 2000 0 1 0 0x1004
end 1 8000
END
"$MAKE_RECORDING" <later.txt >later.up
make_elf web.elf 0x1000
report -i later.up -s web.elf --format folded

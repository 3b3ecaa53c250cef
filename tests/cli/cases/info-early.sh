# Samples from before there was a table are counted apart from others that are cut short.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >early.up <<END
domain 0 4711 4 1 1 web
unwound 4 0
sample 2000 0 1 12 0x1004
sample 3000 0 1 12 0x1004
sample 4000 0 1 2 0x1004
sample 5000 0 1 0 0x1004
end 1 9000
END
info early.up | sed -n '/^Call chains/,$p' | grep -E 'whole|early|cut'
report -i early.up 2>&1 >/dev/null | grep 'cut short'

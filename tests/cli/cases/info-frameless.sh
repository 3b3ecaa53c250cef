# How many callers were found without a frame: weights count, in an ARM guest.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >arm.up <<END
domain 0 3 2 3 1 web
sample 2000 0 1 0 0x1004 0x2000
frameless 1
sample 3000 0 1 0 0x1008 0x2008
flush
weight 2
sample 4000 0 1 0 0x1004 0x2000
frameless 0
sample 5000 0 1 2 0x1004
end 1 6000
END
info arm.up | grep -A 9 '^Call chains'
info arm.up | grep arm64
report --format folded -v arm.up 2>&1 | grep "link register"
make_recording web
info web.up | grep frameless || echo none

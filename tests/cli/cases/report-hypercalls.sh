# Hypercalls in the page that Xen fills in have names: by their number, from the page's symbol. On ARM,
# kernels have a function for each.
. "$CLI/lib.sh"
cat >hypercalls.txt <<'END'
info frequency 99000
domain 0 3 1 1 1 web
sample 1010000000 0 1 0 0x1013aa 0x102008
sample 1020000000 0 1 0 0x101407 0x102008
sample 1030000000 0 1 0 0x101160 0x102008
sample 1040000000 0 1 0 0x101ff0 0x102008
sample 1050000000 0 1 0 0x103004 0x102008
sample 1060000000 0 1 0 0x103014 0x102008
end 1 2000000000
END
"$MAKE_RECORDING" <hypercalls.txt >hypercalls.up || exit 1
cat >web.nm <<'END'
0000000000101000 T hypercall_page
0000000000102000 T main
0000000000103000 T HYPERVISOR_sched_op
0000000000103010 T HYPERVISOR_sched
0000000000103020 T end
END
report -i hypercalls.up -s web.nm --format folded
report -i hypercalls.up -s web.nm --format perf-script | grep hypercall
# CPU 3 is arm64.
sed 's/^domain 0 3 1 1 /domain 0 3 1 3 /' hypercalls.txt | "$MAKE_RECORDING" >arm.up || exit 1
report -i arm.up -s web.nm --format folded | grep sched

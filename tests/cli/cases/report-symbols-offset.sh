# Several symbol files, each with its load offset; the first with a match wins.
. "$CLI/lib.sh"
make_recording plain
cat >kernel.sym <<END
0 T kernel_leaf
100 D data
END
cat >app.sym <<END
80001100 T app_main
80001200 D data
END
cat >late.sym <<END
1000 T not_asked
1100 T not_asked_either
1200 D data
END
report -i plain.up --format folded -s kernel.sym@0x1000 -s app.sym@-0x80000000 \
	-s late.sym
report -i plain.up --format perf-script --symbols=kernel.sym@4096 |
	sed -n 2,3p

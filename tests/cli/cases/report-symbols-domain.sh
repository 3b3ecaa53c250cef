# Symbols for one domain take precedence over symbols for all, and apply to no other domain.
. "$CLI/lib.sh"
make_recording two
cat >db.sym <<END
1000 T db_leaf
1080 D data
END
cat >all.sym <<END
1000 T all_leaf
1100 T all_main
1200 D data
END
cp all.sym 'odd,domain=web'
folded()
{
	report -i two.up --format folded "$@"
	echo
}
folded -s all.sym -s 'db.sym,domain=d b;1'
folded -s 'db.sym@0x100,domain=8' -s 'db.sym,domain=web'
folded -s 'odd,domain=web'
folded -s 'odd,domain=web,domain=web' --domain web
report -i two.up --format perf-script -s all.sym -s 'db.sym,domain=7' | grep leaf
report -i two.up -s all.sym -s 'db.sym,domain=8' --format histogram-csv --per-vcpu
folded -s all.sym -s 'db.sym,domain=nobody'
folded -s 'db.sym,domain='
folded -s 'no.sym,domain=web'
report -i two.up --format folded -s 'db.sym,domain=web' -s all.sym -v 2>&1 |
	grep 'sym:'

# The real flamegraph.pl, from Debian's libdevel-nytprof-perl, draws the output of
# --format folded: each function with its samples.
. "$CLI/lib.sh"
flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl
[ -e $flamegraph ] || skip "libdevel-nytprof-perl is not installed"
make_recording web
report -i web.up --format folded -s "$data/web.sym" 2>/dev/null >web.folded
cat web.folded
perl $flamegraph web.folded | sed -n 's/^<title>\(.*\)<\/title>.*/\1/p' | sort

# Inputs that can't be compared, and damaged recordings.
. "$CLI/lib.sh"
make_recording web damage

diff_of()
{
	"$UNIPROF" diff "$@" || echo "exit code $?"
}

diff_of
cp web.up uniprof.data.old
cp web.up uniprof.data
diff_of | head -n 1
rm uniprof.data*
diff_of web.up
diff_of web.up web.up web.up
diff_of - -
diff_of --format perf-script web.up web.up
diff_of --format folded --percent-limit 1 web.up web.up
diff_of --normalize web.up web.up
diff_of --widths baseline web.up web.up
diff_of --widths both --format flamegraph web.up web.up
diff_of --normalize --format flamegraph web.up web.up
diff_of --invert web.up web.up
diff_of --per-vcpu web.up web.up
diff_of --parent '(' web.up web.up
diff_of web.up missing.up
diff_of -o web.up web.up web.up
diff_of --weight cpu-time web.up web.up
head -c 330 damage.up >cut.up
diff_of -s "$data/web.sym" --format folded damage.up cut.up
diff_of -s "$data/web.sym" --format folded cut.up damage.up >/dev/null
diff_of -s "$data/web.sym" --format folded damage.up - <web.up 2>/dev/null

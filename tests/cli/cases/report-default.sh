# By default, uniprof.data is read and a histogram written.
. "$CLI/lib.sh"
make_recording web
mv web.up uniprof.data
report -s "$data/web.sym"

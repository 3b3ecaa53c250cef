# uniprof.data is read and a histogram written when nothing else is said.
. "$CLI/lib.sh"
make_recording web
mv web.up uniprof.data
report -s "$data/web.sym"

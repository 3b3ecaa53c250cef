# -v shows more; the file may come through a pipe, with -i, or by default.
. "$CLI/lib.sh"
make_recording plain
cat plain.up | info -v -
mv plain.up uniprof.data
info >default
info -i uniprof.data | cmp - default
info ./uniprof.data | sed 's,\./,,' | cmp - default

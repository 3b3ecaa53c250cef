# Symbol files that can't be used: one line, exit code 1.
. "$CLI/lib.sh"
make_recording plain
report -i plain.up -s missing.sym
report -i plain.up -s plain.up
report -i plain.up -s "$data/plain.sym@here" 2>&1 | sed "s,$data/,,"
: >empty.sym
report -i plain.up -s empty.sym

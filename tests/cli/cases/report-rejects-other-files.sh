# Files that can't be read or are not recordings: one line, exit code 1.
. "$CLI/lib.sh"
report
report -i missing.up
report -i .
: >empty.up
report -i empty.up
echo "Not a recording, but some text." >text.up
report -i text.up
report -i - <text.up
head -c 40000000 /dev/zero | report -i -
info missing.up
info text.up

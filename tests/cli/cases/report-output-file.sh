# -o replaces a file, but never the recording; write errors are reported.
. "$CLI/lib.sh"
make_recording plain
for _ in 1 2 3 4 5 6 7 8 9; do echo "a line that was there before"; done >out.txt
report -i plain.up --format folded -s "$data/plain.sym" -o out.txt
cat out.txt
cp plain.up before
report -i plain.up --format folded -s "$data/plain.sym" -o plain.up
ln -s plain.up link
report -i plain.up --format folded -s "$data/plain.sym" -o link
cmp plain.up before
report -i plain.up --format folded -s "$data/plain.sym" -o no/such/directory
report -i plain.up --format folded -s "$data/plain.sym" -o /dev/full
"$UNIPROF" report -i plain.up --format folded -s "$data/plain.sym" >/dev/full
echo "exit code $?"

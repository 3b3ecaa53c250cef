# Names are stored in the recording itself or in another file; the rest of the recording is kept.
. "$CLI/lib.sh"
archive()
{
	"$UNIPROF" archive "$@" || echo "exit code $?"
}
# changed: hides the numbers of bytes, which depend on the version of zstd
changed()
{
	sed 's/: [0-9]* bytes, [0-9]* before/: N bytes, M before/'
}
make_recording web
make_elf web.elf 0x1000 --build-id=0x8c01d7aa
cp web.up copy.up
report -i web.up -s web.elf --format folded >wanted 2>/dev/null
archive web.up -s web.elf 2>&1 | grep wrote | changed
cmp copy.up web.up.old && echo "the old one is kept"
report -i web.up --format folded 2>/dev/null | cmp - wanted && echo "names are there"
info web.up | grep name
info web.up >after
info copy.up | grep -v '^  \(file\|size\) ' | while read -r line; do
	grep -qF "$line" after || echo "missing: $line"
done
echo "# again: the same"
cp web.up once.up
archive -i web.up -s web.elf 2>/dev/null
cmp once.up web.up && echo "nothing changed"
echo "# to standard output, from a file there"
archive -i - -o - -s web.elf <copy.up 2>/dev/null | cmp - once.up && echo "the same"
echo "# from a pipe"
cat copy.up | archive -i - -o x.up -s web.elf
ls x.up* 2>/dev/null
echo "# given files come first"
nm web.elf | sed 's/idle/wait/' >wait.sym
report -i once.up -s wait.sym --format folded 2>/dev/null | grep -c 'main;wait'
echo "# other files add names, and keep those of the first"
echo "9000 T far" >far.sym
archive -i once.up -o twice.up -s far.sym 2>/dev/null
report -i twice.up --format folded 2>/dev/null | grep -c 'main;far'
report -i twice.up --format folded 2>/dev/null | grep -c 'main;idle'
info twice.up | grep 'names of'
echo "# names from other tools stay"
printf 'main;f 2\nmain;0x1004 3\n' >text
import -o text.up text 2>/dev/null
archive -i text.up -s web.elf 2>&1 | changed
report -i text.up --format folded
report -i text.up --format folded -s wait.sym
echo "# recordings of uniprof 0.1, which have no places"
archive -i "$data/uniprof-0.1.up" -o old.up -s web.elf 2>/dev/null
report -i old.up --format folded >got 2>/dev/null
report -i "$data/uniprof-0.1.up" -s web.elf --format folded 2>/dev/null | cmp - got &&
	echo "the same"
echo "# several recordings, each with its own names"
report -i once.up -i text.up --format folded 2>/dev/null | sed 's/ [0-9]*$//' | sort -u
echo "# diff and top"
"$UNIPROF" diff once.up once.up 2>/dev/null | grep -c 'idle$'
"$UNIPROF" top --batch 1 -i once.up 2>/dev/null | grep -c 'idle$'
echo "# no notes on what is not in the names: missed rounds, a lowered rate, cut chains"
printf '%s\n' 'info start 0' 'info frequency 100000' 'domain 0 1 2 1 1 web' 'weight 10' \
	'sample 0 0 1 2 0x1004' 'sample 100000000 0 1 2 0x1004' 'pause 20000 100' 'missed 900' \
	'end 1 1000000000' | "$MAKE_RECORDING" >missed.up
report -i missed.up -s web.elf --format folded 2>&1 >/dev/null | grep -c -e missed -e taken -e cut
archive -i missed.up -s web.elf 2>&1 | changed

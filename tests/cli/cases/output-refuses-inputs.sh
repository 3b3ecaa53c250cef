# -o never overwrites an input, recording or symbol file, under whichever name.
. "$CLI/lib.sh"
make_recording plain
cp "$data/plain.sym" a.sym
cp a.sym b.sym
ln plain.up hard.up
ln a.sym hard.sym
ln -s hard.sym soft.sym
make_elf web.elf 0x1000
cp web.elf whole.elf
objcopy --only-keep-debug web.elf web.debug
objcopy --strip-all --add-gnu-debuglink=web.debug web.elf
sha1sum *.up *.sym *.elf *.debug >sums
report -i plain.up -s a.sym -o plain.up
report -i plain.up -s a.sym -o hard.up
report -i - -s a.sym -o hard.up <plain.up
report -i plain.up -s a.sym -o ./a.sym
report -i plain.up -s b.sym,domain=7 -s a.sym@0 -o soft.sym
report -i plain.up -s web.elf -o web.elf
report -i plain.up -s web.elf -o web.debug
for option in "-s a.sym" "--baseline-symbols a.sym -s b.sym" "--baseline-symbols b.sym -s a.sym"; do
	"$UNIPROF" diff $option -o hard.sym plain.up plain.up || echo "exit code $?"
done
"$UNIPROF" diff -s a.sym -o hard.up /dev/stdin plain.up <plain.up || echo "exit code $?"
printf 'main 1\n' >text
ln text text.hard
import -o text.hard text
import -o text <text
cat text
sha1sum --quiet -c sums && echo "all is there"
ls -A

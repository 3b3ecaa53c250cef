# A file given to the wrong command: the message says what it is, and what to type.
. "$CLI/lib.sh"
make_recording web
printf 'PERFILE2\150\0\0\0\0\0\0\0more than a header of perf' >perf.data
make_elf guest.elf 0x9000
printf 'main;leaf 2\n' >folded
gzip -n <web.up >web.up.gz
head -c 100 /dev/zero | tr '\0' '\1' >unknown
for file in perf.data guest.elf folded web.up.gz unknown; do
	report "$file"
done
info perf.data
"$UNIPROF" diff web.up perf.data
for file in perf.data guest.elf web.up web.up.gz; do
	import -o out "$file"
done
report - <perf.data
import -o out <perf.data
ls

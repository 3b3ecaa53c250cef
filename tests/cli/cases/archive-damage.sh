# Damaged names are reported as damage, and the addresses have no names then. What is missing
# in a recording is missing in its copy.
. "$CLI/lib.sh"
make_recording damage
make_elf web.elf 0x1000
"$UNIPROF" archive -i damage.up -o names.up -s web.elf 2>/dev/null
# starts FILE: where chunks start
starts()
{
	perl -e 'local $/; $_ = <STDIN>; my $at = -1;
		print "$at\n" while ($at = index($_, "\xabUPR", $at + 1)) >= 0' <"$1"
}
echo "# a wrong byte in the chunks of names"
at=$(starts names.up | sed -n 3p)
end=$(starts names.up | sed -n 5p)
while [ "$at" -lt "$end" ]; do
	perl -e 'local $/; $_ = <STDIN>; substr($_, $ARGV[0], 1) ^= "\x55"; print' \
		"$at" <names.up >flip.up
	"$UNIPROF" report -i flip.up --format folded >out 2>err
	code=$?
	echo "$code $(grep -c 'is damaged' err) $(awk '{ sum += $NF } END { print sum }' out)"
	at=$((at + 3))
done | sort -u
echo "# cut off anywhere"
size=$(wc -c <names.up)
at=$(starts names.up | sed -n 3p)
while [ "$at" -lt "$size" ]; do
	head -c "$at" names.up >cut.up
	"$UNIPROF" report -i cut.up --format pprof --inline -o /dev/null 2>err
	echo "$? $(grep -c 'is cut off\|has no end' err)"
	at=$((at + 7))
done | sort -u
echo "# chunks that no writer makes, with correct checksums"
# chunk TYPE HEX: reports a recording with it
chunk()
{
	printf 'info start 1000\ndomain 0 3 2 1 1 web\nchunk %s\nsample 2000 0 1 0 0x1004\nend 1 3000\n' \
		"$*" | "$MAKE_RECORDING" >chunk.up
	report -i chunk.up --format folded --inline --srcline 2>&1 | sed 's/note: .*/note/'
}
chunk 5 010101 03028840 05020161 070107 080101 090101 0a020167 0b020170 0c0105
chunk 5 010101 03028840 05020161 080101 090101
chunk 5 010101 03028840 05020161 0802ff7f 0902ff7f 0c0105
chunk 5 010101 03028840 05020161 090101 0c0105
chunk 5 010101 03028840 0504031b5b6d 070101
chunk 6 010161 070180
chunk 6 01021b5b 02031b5b6d 0303002f2f 040478797a30 050101
chunk 6 010161 070cffffffffffffffffff010203
echo "# a path that is not clean"
chunk 6 010177 02052f1b5b6d29 070480208020 >/dev/null
report -i chunk.up --format perf-script 2>/dev/null
chunk 6 01021b5b 0303412f1b 040478797a30 050101 >/dev/null
info chunk.up | grep 'names of'
echo "# a damaged recording"
perl -e 'local $/; $_ = <STDIN>; my @at; my $at = -1;
	push @at, $at while ($at = index($_, "\xabUPR", $at + 1)) >= 0;
	print substr($_, 0, $at[2]), substr($_, $at[3])' <damage.up >gap.up
"$UNIPROF" archive -i gap.up -o copy.up -s web.elf 2>&1 | sed 's/: [0-9]* bytes.*//'
report -i copy.up --format folded
head -c $(($(wc -c <damage.up) - 10)) damage.up >cut.up
"$UNIPROF" archive -i cut.up -s web.elf || echo "exit code $?"
"$UNIPROF" archive -i cut.up -o copy.up -s web.elf 2>/dev/null || echo "exit code $?"
report -i copy.up --format folded
cat damage.up web.elf >tail.up
"$UNIPROF" archive -i tail.up -o copy.up -s web.elf 2>/dev/null || echo "exit code $?"
report -i copy.up --format folded

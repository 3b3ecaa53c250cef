# A file of another build than the names in the recording, or than what it was recorded with, is
# said in one line; others are not.
. "$CLI/lib.sh"
make_elf web.elf 0x1000 --build-id=0x8c01d7aa
make_elf new.elf 0x1000 --build-id=0x8c01d7ab
make_elf far.elf 0x9000 --build-id=0x8c01d7ac
make_elf none.elf 0x1000
make_recording two
warnings()
{
	report -i "$file" --format folded "$@" 2>&1 >/dev/null | grep build-id || echo no warning
}
"$UNIPROF" archive -i two.up -o named.up -s web.elf,domain=web 2>/dev/null
file=named.up
echo "# the same build, one elsewhere, and one without an id"
warnings -s web.elf -s far.elf -s none.elf
echo "# another build"
warnings -s new.elf
warnings -s new.elf,domain=web -v
warnings -s new.elf,domain=7
"$UNIPROF" diff -s new.elf named.up named.up 2>&1 >/dev/null | grep build-id
"$UNIPROF" archive -i named.up -o /dev/null -s new.elf 2>&1 | grep build-id
echo "# recorded with"
mkdir other
cp new.elf other/web.elf
# recorded FILES BUILD-ID...
recorded()
{
	printf 'info start 1000\ndomain 0 3 2 1 1 web\nunwound 2 5 %s\nsample 2000 0 1 0 0x1004\nend 1 3000\n' \
		"$*" | "$MAKE_RECORDING" >recorded.up
}
file=recorded.up
recorded web.elf 8c01d7aa
warnings -s web.elf -s far.elf
warnings -s other/web.elf
recorded kernel,web.elf 0011 8c01d7aa
warnings -s other/web.elf
echo "# not known which"
recorded kernel,web.elf 8c01d7aa
warnings -s other/web.elf

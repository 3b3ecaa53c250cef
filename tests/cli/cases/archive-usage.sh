# Wrong usage and inputs that can't be used: one line; nothing is written.
. "$CLI/lib.sh"
archive()
{
	"$UNIPROF" archive "$@" || echo "exit code $?"
}
make_recording plain
cp "$data/plain.sym" a.sym
ls >before
archive --help
archive plain.up
archive plain.up plain.up -s a.sym
archive -i plain.up plain.up -s a.sym
archive -i - -s a.sym <plain.up
archive -s a.sym
archive plain.up -s no.sym
archive plain.up -s a.sym -o a.sym
archive plain.up -s a.sym -o no/plain.up
archive a.sym -s a.sym -o x.up
archive plain.up -s a.sym --format folded
archive plain.up -s a.sym -o /dev/full
ls | cmp - before

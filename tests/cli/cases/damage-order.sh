# Chunks that are repeated, moved, left out or replaced by ones of as many samples are
# noticed, also if nothing else is wrong.
. "$CLI/lib.sh"
# make NAME HOST: a recording with 4 chunks of samples, the third to sixth of all
make()
{
	{
		echo "info host $2"
		echo "domain 0 1 2 1 1 web"
		for i in 1 2 3 4; do
			printf 'sample %d000 0 1 0 0x%d000\nflush\n' $i $i
		done
		echo "end 1 5000"
	} | "$MAKE_RECORDING" >"$1"
}
# chunks FILE-AND-NUMBER...: makes changed.up of these chunks, counted from 0, and reports it
chunks()
{
	perl -we '
sub chunks {
	open(my $in, "<:raw", $_[0]) or die; local $/; my $bytes = <$in>; my @all;
	while (length $bytes) {
		push @all, substr($bytes, 0, 24 + unpack("x8V", $bytes), "");
	}
	return @all;
}
my %from = map { $_ => [chunks("$_.up")] } "a", "b";
binmode STDOUT;
print map { /^([ab])(\d+)$/ or die; $from{$1}[$2] } @ARGV' "$@" >changed.up
	echo "# $*"
	report -i changed.up --format folded 2>&1 | grep -v '^uniprof report: note:'
}
make a.up here
make b.up there
chunks a0 a1 a2 a3 a4 a5 a6 a7 a8
chunks a0 a1 a2 a3 a3 a4 a5 a6 a7 a8
chunks a0 a1 a2 a4 a3 a5 a6 a7 a8
chunks a0 a1 a2 a5 a6 a7 a8
chunks a0 a1 a2 a2 a4 a5 a6 a7 a8
chunks a0 a1 a2 b3 a4 a5 a6 a7 a8
chunks a1 a2 a3 a4 a5 a6 a7 a8
chunks a0 a1 a2 a3 a4 a5 a6 a8
chunks a0 a1 a2 a3 a4 a5 a6 a7
chunks a0 a1 a2 a3 a4 a5 a6 a7 a8 a0 a1 a2 a3 a4 a5 a6 a7 a8
chunks a0 a1 a2 a3 a4 a5 a6 a7 a8 b0 b1 b2 b3 b4 b5 b6 b7 b8
echo "# recordings of uniprof 0.1 have no numbers"
cp "$data/uniprof-0.1.up" a.up
chunks a0 a1 a2 a3 a4 a5
chunks a0 a1 a3 a4 a5

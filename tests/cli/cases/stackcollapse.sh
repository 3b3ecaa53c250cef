# perf-script, read by the rules of stackcollapse-perf.pl, gives the same as --format
# folded. The rules: lines that start with '#' are comments; a sample is an event line
# (command, one or two numbers), frame lines (address, name+offset, module in parentheses)
# and an empty line; frames whose name starts with '(' are skipped; names lose their offset,
# everything after a '(', quotes and angle brackets; an unknown name is replaced by the
# module; samples are weighted by their period. gprof2dot also needs a blank before each
# frame, and nothing after the module.
. "$CLI/lib.sh"
cat >collapse.pl <<'END'
use strict;
use warnings;
my (%count, @frames, $command, $period);
while (my $line = <STDIN>) {
	chomp $line;
	next if $line =~ /^#/;
	if ($line eq "") {
		die "a sample without an event line\n" unless defined $command;
		$count{join ";", $command, @frames} += $period;
		@frames = ();
		undef $command;
	} elsif ($line =~ m{^(\S.+?)\s+(\d+)/*(\d+)*\s+}) {
		die "an event line within a sample\n" if defined $command;
		$command = $1;
		die "no event: $line\n" unless $line =~ /:\s*(\d+)*\s+(\S+):\s*$/;
		die "not the event of the other samples: $2\n" if $2 ne "cpu-clock";
		$period = $1 || 1;
	} elsif ($line =~ /^\s*(\w+)\s*(.+) \((\S*)\)/) {
		my ($name, $module) = ($2, $3);
		die "a frame outside of a sample\n" unless defined $command;
		die "not for gprof2dot: $line\n"
			unless $line =~ /^\s+[0-9a-fA-F]+\s+.*\s+\(.*\)$/;
		$name =~ s/\+0x[0-9a-f]+$//;
		next if $name =~ /^\(/;
		$name = $module if $name eq "[unknown]";
		$name =~ s/;/:/g;
		$name =~ s/\((?!anonymous namespace\)).*// unless $name =~ /\.\(.*\)\./;
		$name =~ tr/<>"'//d;
		unshift @frames, $name;
	} else {
		die "not perf's: $line\n";
	}
}
die "the last sample has no end\n" if defined $command;
print "$_ $count{$_}\n" for sort keys %count;
END
{
	echo "info start 1000"
	echo "domain 0 5 2 1 4 a domain (with) blanks"
	echo "many 20000 500 10 40"
	echo "end 1 90000000000"
} | "$MAKE_RECORDING" >big.up
awk 'BEGIN { for (i = 0; i < 40; i++)
	printf "%016x 0000000000000100 T function_%d\n", 1048576 + i * 256, i }' >big.sym
report -i big.up --format perf-script -s big.sym | perl collapse.pl >ours
report -i big.up --format folded -s big.sym | sed 's/^/a_domain__with__blanks;/' |
	diff - ours && echo "the same stacks and counts"
wc -l <ours
make_recording odd
report -i odd.up --format perf-script -s "$data/odd.sym" | perl collapse.pl

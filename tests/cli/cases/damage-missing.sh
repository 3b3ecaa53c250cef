# Whole chunks are gone without a trace, except in the sum at the end.
. "$CLI/lib.sh"
make_recording damage
perl -e 'local $/; $_ = <STDIN>; my @at; my $at = -1;
	push @at, $at while ($at = index($_, "\xabUPR", $at + 1)) >= 0;
	print substr($_, 0, $at[2]), substr($_, $at[3])' <damage.up >gap.up
report -i gap.up --format folded -s "$data/plain.sym"
cat damage.up damage.up >twice.up
report -i twice.up --format folded -s "$data/plain.sym"

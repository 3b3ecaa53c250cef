# Whole chunks are missing; only the totals at the end show it.
. "$CLI/lib.sh"
make_recording damage
perl -e 'local $/; $_ = <STDIN>; my @at; my $at = -1;
	push @at, $at while ($at = index($_, "\xabUPR", $at + 1)) >= 0;
	print substr($_, 0, $at[2]), substr($_, $at[3])' <damage.up >gap.up
report -i gap.up --format folded -s "$data/plain.sym"
cat damage.up damage.up >twice.up
report -i twice.up --format folded -s "$data/plain.sym"

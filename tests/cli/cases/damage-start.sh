# A damaged start: the description of the recording is repeated at its end.
. "$CLI/lib.sh"
make_recording web
head -c 400 /dev/zero | tr '\0' x >start.up
perl -e 'local $/; $_ = <STDIN>; my $n = 0; my $at = -1;
	$at = index($_, "\xabUPR", $at + 1) while $n++ < 3;
	print substr($_, $at)' <web.up >>start.up
for format in folded histogram; do
	report -i start.up --format $format -s "$data/web.sym" 2>/dev/null
done
# The samples come before the name.
report -i start.up --format perf-script -s "$data/web.sym" | head -n 1
info start.up | grep -A 2 '^Domain'

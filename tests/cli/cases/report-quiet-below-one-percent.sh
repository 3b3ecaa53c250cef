# Shares below 1 % cause no note, except with -v.
. "$CLI/lib.sh"
{
	echo "domain 0 1 2 1 1 quiet"
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		for j in 1 2 3 4 5 6; do
			echo "sample $i$j 0 1 0 0x1004 0x1108"
		done
	done
	echo "sample 5000 0 1 3 0x9000"
	echo "end 1 6000"
} | "$MAKE_RECORDING" >quiet.up
report -i quiet.up --format folded -s "$data/plain.sym"
echo "--" >&2
report -i quiet.up --format folded -s "$data/plain.sym" -v 2>&1 | sed "s,$data/,,"
# The note is about most of the addresses without a name: callers in this case.
{
	echo "domain 0 1 2 1 1 callers"
	for i in $(seq 120); do
		echo "sample $i 0 1 0 0x1004 0x7008"
	done
	echo "sample 5000 0 1 0 0x9000"
	echo "end 1 6000"
} | "$MAKE_RECORDING" >callers.up
echo "--" >&2
report -i callers.up --format folded -s "$data/plain.sym"

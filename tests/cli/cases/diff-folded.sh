# The folded difference equals the join of both recordings' folded stacks, and
# flamegraph.pl reads it.
. "$CLI/lib.sh"
make_plain
for side in 1 2; do
	{
		echo "info start 1000"
		echo "domain 0 1 2 1 4 big"
		i=0
		while [ $i -lt 400 ]; do
			echo "sample $((2000 + i)) 0 1 0 $((1048576 + i * side % 37 * 256 + 1)) $((1048833 + i % 11 * 256))"
			i=$((i + side))
		done
		echo "end 1 90000"
	} | "$MAKE_RECORDING" >$side.up
	"$UNIPROF" report -s big.sym --format folded $side.up 2>/dev/null >folded.$side
done
"$UNIPROF" diff -s big.sym --format folded 1.up 2.up >both 2>/dev/null
awk '{
	count = $NF
	sub(/ [0-9]+$/, "")
	chains[$0]
	sum[$0, FILENAME] = count
}
END {
	for (chain in chains)
		print chain " " sum[chain, "folded.1"] + 0 " " sum[chain, "folded.2"] + 0
}' folded.1 folded.2 | sort >wanted
sort both | cmp - wanted && echo "joined: $(wc -l <both)"
"$UNIPROF" diff -s big.sym --format folded -n 1.up 2.up >both 2>/dev/null
awk '{ $(NF - 1) = int($(NF - 1) * 200 / 400); print }' wanted | sort >scaled
sort both | cmp - scaled && echo "normalized"
# The tables match the last frames of the stacks.
"$UNIPROF" diff -s big.sym --format histogram-csv 1.up 2.up 2>/dev/null |
	awk -F , 'NR > 1 { print $1, $2, $4; sum += $6 }
		END { printf "all deltas: %.1f\n", sum < 0 ? -sum : sum >"/dev/stderr" }' |
	sort >table
awk '{
	frames = split($1, frame, ";")
	name = frame[frames] ~ /^0x/ ? "[unresolved]" : frame[frames]
	a[name] += $2
	b[name] += $3
}
END { for (name in a) print name, a[name], b[name] }' wanted | sort | cmp - table &&
	echo "the table agrees"
flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl
[ -e $flamegraph ] || skip "libdevel-nytprof-perl is not installed"
perl $flamegraph wanted | grep -c '<rect.*fill="rgb(\(...\),\1,255)\|<rect.*fill="rgb(255,\(...\),\2)' |
	sed 's/[1-9][0-9]*/coloured by difference/'

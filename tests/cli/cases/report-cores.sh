# One core gives the same report as all cores, also for a damaged recording.
. "$CLI/lib.sh"
command -v taskset >/dev/null || skip "util-linux is not installed"
core=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
{
	echo "info start 1000"
	echo "domain 0 1 2 1 4 big"
	for chunk in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		echo "cpu-time $((chunk * 1000000))"
		echo "many 2000 $((chunk * 40)) 10 40"
		echo flush
	done
	echo "end 1 90000000000"
} | "$MAKE_RECORDING" >big.up
perl -e 'local $/; $_ = <STDIN>; for my $i (1 .. 4) {
	substr($_, length() * $i / 5, 1) ^= "\x55" } print' <big.up >damaged.up
for recording in big damaged; do
	for format in $("$UNIPROF" report --help |
		sed -n '/^Formats/,/^$/s/^  *\([a-z-]*\) .*/\1/p'); do
		for weight in samples cpu-time; do
			set -- report -i $recording.up --format "$format" --weight $weight
			taskset -c "$core" "$UNIPROF" "$@" >alone 2>alone.err
			echo "exit code $?" >>alone.err
			"$UNIPROF" "$@" >all 2>all.err
			code=$?
			echo "exit code $code" >>all.err
			if cmp alone all && cmp alone.err all.err && [ -s all ]; then
				echo "$recording, $format, $weight: the same, exit code $code"
			fi
		done
	done
done

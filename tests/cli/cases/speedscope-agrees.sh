# Each function has the same self and total in Speedscope as in the collapsed stacks,
# where its format is read and where pprof's and callgrind's are.
# Not with sanitizers: other cases write the same outputs with them.
. "$CLI/lib.sh"
need_modules speedscope ajv
make_big

# sums: the output of speedscope in the form of self_and_total
sums()
{
	awk -F '\t' '$1 == "frame" { self[$2] += $4; total[$2] += $5 }
		END { for (name in total)
			printf "%s\t%.0f\t%.0f\n", name, self[name], total[name] }' | sort
}

for weight in samples cpu-time wall; do
	for domain in big big,small; do
		for format in folded speedscope pprof; do
			report -i big.up -s big.sym --weight $weight --domain $domain \
				--format $format -o big.$format.json 2>/dev/null
		done
		mv big.pprof.json big.pprof
		speedscope big.pprof | sums | sed 's/[^\t]*$//' >pprof
		speedscope big.speedscope.json >shown
		sums <shown >sums
		# The profile has the name of the domain.
		if [ $domain = big,small ]; then
			sed -i 's/^[^;]*;//' big.folded.json
			sed -i '/^\(big\|small\)\t/d' pprof
		fi
		self_and_total <big.folded.json >expected
		diff expected sums && echo "$weight $domain:" $(wc -l <sums) functions agree
		awk -F '\t' '$1 == "profile" { sum += $4 } END { printf "%.0f in all\n", sum }' shown
		awk '{ sum += $NF } END { printf "%.0f folded\n", sum }' big.folded.json
	done
done

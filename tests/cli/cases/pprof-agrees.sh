# Each function has the same self and total in Go's pprof as in the collapsed stacks.
. "$CLI/lib.sh"
command -v go >/dev/null || skip "golang-go is not installed"
make_big
for weight in samples cpu-time wall; do
	for domain in big big,small; do
		for format in folded pprof; do
			report -i big.up -s big.sym --weight $weight --domain $domain \
				--format $format -o big.$format 2>/dev/null
		done
		self_and_total <big.folded >expected
		# In us, pprof would round it to two digits.
		go tool pprof -top -unit=us -nodecount=100000 -nodefraction=0 big.pprof |
			awk '/flat%/ { rows = 1; next }
				rows {
					self = $1
					total = $4
					for (i = 1; i <= 5; i++)
						sub(/^ *[^ ]+ +/, "")
					printf "%s\t%.0f\t%.0f\n", $0, self, total
				}' | sort >shown
		diff expected shown && echo "$weight $domain:" $(wc -l <shown) functions agree
	done
done

# Functions for the cases' other halves, which look on the host at what came out
# of dom0. Called as CASE.host UNIPROF OUT GUESTS: the program, the folder with
# the results, the folder with the guests' images.

uniprof=$1
out=$2
guests=$3

. "$(dirname "$0")/../say.sh"

# report_all NAME [SYMBOLS]: every output of NAME.data
report_all()
{
	symbols=${2:-$guests/guest.elf}
	for format in folded perf-script histogram-csv; do
		"$uniprof" report -i "$out/$1.data" --format $format \
			--symbols "$symbols" >"$out/$1.$format" 2>"$out/$1.$format.err"
		check "$1: $format is written" [ $? = 0 ]
	done
	"$uniprof" info "$out/$1.data" >"$out/$1.info" 2>&1
	check "$1: the recording is undamaged" [ $? = 0 ]
}

# closing NAME: the recorder's own count of samples
closing()
{
	sed -n 's/^uniprof record: \([0-9]*\) samples .*/\1/p' "$out/$1.closing"
}

# check_totals NAME: all outputs have the samples that the recorder counted
check_totals()
{
	samples=$(closing "$1")
	folded=$(awk '{ n += $NF } END { print n + 0 }' "$out/$1.folded")
	blocks=$(awk 'NF == 0 { n++ } END { print n + 0 }' "$out/$1.perf-script")
	self=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "self") c = i; next }
		{ n += $c } END { print n + 0 }' "$out/$1.histogram-csv")
	check "$1: closing line $samples, folded $folded, perf-script $blocks, histogram $self" \
		[ "$samples/$folded/$blocks" = "$folded/$blocks/$self" ]
	cat "$out/$1.closing"
}

# check_harm GUEST SYMBOLS: what came out of lib.sh's sample_harm
check_harm()
{
	report_all "$1" "$2"
	check_totals "$1"
	nm -S "$2" >"$out/$1.symbols"
	python3 "$(dirname "$0")/../hostile.py" "$out" "$1"
}

# check_work NAME DEPTH: the fractions of alpha, beta and gamma, against what is
# known and what the guest itself counted; and that no chain misses a frame
check_work()
{
	awk -v guest="$1" -v depth="$2" '
	function field(line, name) {
		if (!match(line, " " name "=[0-9]+")) return 0
		return substr(line, RSTART + length(name) + 2, RLENGTH - length(name) - 2)
	}
	function verdict(good, text) { print (good ? "ok " : "FAILED ") guest ": " text }
	function abs(x) { return x < 0 ? -x : x }
	FILENAME ~ /before$/ { before = $0; next }
	FILENAME ~ /after$/ { after = $0; next }
	{
		count = $NF
		sub(/ [0-9]+$/, "")
		total += count
		n = split($0, frame, ";")
		work = frame[4]
		if (work != "alpha" && work != "beta" && work != "gamma") {
			other += count
			# GCC has no frames in its library of divisions for Thumb.
			if ($0 !~ /^_start;guest_main(;|$)/ && \
			    $0 !~ /^(__aeabi_uldivmod;)?__udivmoddi4$/) broken = broken "\n  " $0
			next
		}
		in_work[work] += count
		# What has to follow: the four named steps, then nests, then the leaf.
		whole = "_start;guest_main;main;" work
		for (i = 5; i <= n && i <= depth; i++)
			whole = whole ";" work (i <= 8 ? "_" (i - 4) : i < depth ? "_nest" : "_leaf")
		if ($0 != whole) broken = broken "\n  " $0
		if (n == depth) leaves += count
	}
	END {
		verdict(total > 0 && broken == "", "every chain is whole" broken)
		verdict(leaves >= total * 0.98, leaves " of " total " samples are " depth " deep")
		verdict(other <= total * 0.02, (other + 0) " of " total " samples are outside the work")
		split("alpha beta gamma", name, " ")
		split("10 30 60", known, " ")
		for (i = 1; i <= 3; i++) {
			got = 100 * in_work[name[i]] / total
			all += ran[i] = field(after, "t_" name[i]) - field(before, "t_" name[i])
			verdict(abs(got - known[i]) <= 3, sprintf("%s has %.1f %%, of %d known", \
				name[i], got, known[i]))
		}
		for (i = 1; i <= 3; i++)
			printf "  the guest itself counted %.1f %% for %s\n", 100 * ran[i] / all, name[i]
	}' "$out/$1.before" "$out/$1.after" "$out/$1.folded"
}

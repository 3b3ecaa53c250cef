# Functions for the CASE.host files, which check the results from dom0 on the host. Called
# as CASE.host UNIPROF OUT GUESTS: the program, the folder with the results, the folder with
# the guests' images.

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
	"$uniprof" archive -i "$out/$1.data" -o "$out/$1.named" --symbols "$symbols" 2>/dev/null
	for format in folded perf-script histogram-csv; do
		"$uniprof" report -i "$out/$1.named" --format $format 2>/dev/null |
			cmp - "$out/$1.$format"
		check "$1: $format is the same with stored names" [ $? = 0 ]
	done
}

# closing NAME: the recorder's own count of samples
closing()
{
	sed -n 's/^uniprof record: \([0-9]*\) samples .*/\1/p' "$out/$1.closing"
}

# check_totals NAME: all outputs have as many samples as the recorder counted
check_totals()
{
	samples=$(closing "$1")
	folded=$(awk '{ n += $NF } END { print n + 0 }' "$out/$1.folded")
	periods=$(awk '/clock: $/ { n += $5 } END { print n + 0 }' "$out/$1.perf-script")
	self=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "self") c = i; next }
		{ n += $c } END { print n + 0 }' "$out/$1.histogram-csv")
	check "$1: closing line $samples, folded $folded, perf-script $periods, histogram $self" \
		[ "$samples/$folded/$periods" = "$folded/$periods/$self" ]
	cat "$out/$1.closing"
}

# check_harm GUEST SYMBOLS: checks the recordings of the hostile cases
check_harm()
{
	report_all "$1" "$2"
	check_totals "$1"
	nm -S "$2" >"$out/$1.symbols"
	python3 "$(dirname "$0")/../hostile.py" "$out" "$1"
}

# check_ends NAME SYMBOLS: "whole" is the truth, within half a point of all samples: of the chains that
# begin at the guest's start. After report_all.
check_ends()
{
	whole=$("$uniprof" info "$out/$1.data" -s "$2" | sed -n 's/^  whole  *\([0-9]*\) .*/\1/p')
	awk -v guest="$1" -v whole="${whole:-0}" '
	/^_start[; ]/ { true += $NF }
	{ all += $NF }
	END {
		off = whole > true ? whole - true : true - whole
		printf "%s %s: %d of %d chains begin at the start, %d are whole\n",
			(all && off <= int(all * 0.005) + 1 ? "ok" : "FAILED"), guest, true, all, whole
	}' "$out/$1.folded"
}

# check_work NAME DEPTH: compares the fractions of alpha, beta and gamma with what the guest
# itself counted, within 3 points, and that with the known work, within 5; and checks that no
# chain misses a frame. The guest counts by its own clock what it really spent: the emulator
# makes it spend up to 3 points more or less in a function than its work there is. Of 6,000
# samples, the differences have a standard deviation of 0.8 points.
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
		# Must follow: the four named steps, then nests, then the leaf.
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
		for (i = 1; i <= 3; i++)
			all += ran[i] = field(after, "t_" name[i]) - field(before, "t_" name[i])
		for (i = 1; i <= 3; i++) {
			got = 100 * in_work[name[i]] / total
			spent = all ? 100 * ran[i] / all : 0
			verdict(abs(got - spent) <= 3, sprintf("%s has %.1f %%, and the guest " \
				"counted %.1f %%", name[i], got, spent))
			verdict(abs(spent - known[i]) <= 5, sprintf("%s: %.1f %% were spent of " \
				"%d known", name[i], spent, known[i]))
		}
	}' "$out/$1.before" "$out/$1.after" "$out/$1.folded"
	check_ends "$1" "${symbols:-$guests/guest.elf}"
}

# The page of --format html has the same sums as histograms, for 50 random selections: weights,
# states, exits, domains, vCPUs and times; and of what threads waited for.
. "$CLI/lib.sh"
need_modules
{
	begin_big
	echo "weight 3"
	echo "exit 2 0x3f8"
	echo "many 3000 500 10 40"
	i=0
	while [ $i -lt 300 ]; do
		# A thread's waits follow each other; the last ones are not over.
		echo "in $((i % 2))"
		echo "process $((i % 6 / 3 + 10)) app$((i % 6 / 3))"
		echo "thread $((i % 6 + 20)) worker$((i % 6))"
		from=$((500000000 + i / 6 * 100000000)) length=$((1 + i * 7919 % 99000))
		to=$((from + length * 1000))
		[ $i -lt 296 ] || to=0
		echo "wait $from $to $((i % 5)) 0 $(printf '0x%x' $((1048577 + i % 7 * 256))) 0x100201 0x100101"
		[ $((i % 50)) != 49 ] || echo "waits $((from + 99999000)) 100000000 10 6 0 0 1000"
		i=$((i + 1))
	done
	i=0
	echo "in 0"
	while [ $i -lt 400 ]; do
		echo "exit $((i % 4)) $((i % 7))"
		echo "sample $((5000000000 + i * 33333)) $((i % 3)) $((i % 5)) 0" \
			"0x100001 0x100101 0x100001"
		i=$((i + 1))
	done
	echo "end 1 90000000000"
} | "$MAKE_RECORDING" >big.up
# All functions have names: histograms don't tell addresses apart.
awk 'BEGIN { for (i = 0; i < 40; i++)
	printf "%016x 0000000000000100 T function_%d\n", 1048576 + i * 256, i }' >big.sym
"$UNIPROF" report -i big.up -s big.sym --format html -o big.html || echo "exit code $?"
python3 - <<'END'
import json
import random

random.seed(32)
STATES = {"all": None, "running": ["running"], "runnable": ["runnable"], "blocked": ["blocked"],
          "busy": ["running", "runnable"], "exit": None}
with open("questions", "w") as questions, open("options", "w") as options:
    for i in range(70):
        waits = i >= 50
        weight = "wait" if waits else random.choice(["samples", "cpu-time", "wall"])
        state = "all" if waits else random.choice(list(STATES))
        domain = random.choice([None, "big", "small"])
        vcpu = None if waits else random.choice([None, None, 0, 3])
        # Most samples, and all waits, are in the first 5 s.
        ends = sorted(round(random.uniform(0, 5.5), random.choice([1, 3, 6])) for _ in range(2))
        ranges = random.choice([[], [ends]])
        print(json.dumps({"weight": weight, "state": STATES[state], "exit": state == "exit",
                          "domain": domain,
                          "vcpu": vcpu, "recording": None, "ranges": ranges}), file=questions)
        text = f"--weight {weight} --state {state}"
        text += f" --domain {domain}" if domain else ""
        text += f" --vcpu {vcpu}" if vcpu is not None else ""
        text += "".join(f" --time {start},{end}" for start, end in ranges)
        print(text, file=options)
END
node "$CLI/page.mjs" big.html <questions >page || echo "page.mjs failed"
while read -r options; do
	"$UNIPROF" report -i big.up -s big.sym --format histogram-csv $options 2>/dev/null |
		awk -F , '
			NR == 1 { first = $1 == "domain" ? 2 : 1 }
			NR > 1 { self[$first] += $(first + 1); total[$first] += $(first + 3) }
			END { for (name in total) print name "," self[name] "," total[name] }' | sort
	echo
done <options >histograms
grep -c ^function_ histograms
cmp page histograms && echo "$(grep -c '^$' page) selections are the same"

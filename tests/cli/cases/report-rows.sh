# Rows for databases: JSON lines, one for each second, domain, vCPU, state and chain.
. "$CLI/lib.sh"
make_recording web
report -s "$data/web.sym" --format rows web.up 2>/dev/null
echo "# by time, of one state"
report -s "$data/web.sym" --format rows --weight wall --state running web.up 2>/dev/null
# A start at half a second past midnight: seconds are those of the clock.
{
	echo "info wall-start 1795305600500000000"
	echo "info start 7000000000"
	echo "domain 0 3 2 1 2 web"
	echo "domain 1 4 2 1 2 a\"b\\"
	for time in 7000000000 7100000000 7600000000 9000000000 9100000000; do
		echo "sample $time 0 1 0 0x1000 0x1101"
	done
	echo "in 1
sample 9200000000 1 3 0 0x1000 0x1101
weight 7
sample 9300000000 1 3 0 0x1008 0x1101
sample 9400000000 0 9 0
end 1 9500000000"
} | "$MAKE_RECORDING" >night.up
echo "# night"
report -s "$data/web.sym" --format rows night.up 2>/dev/null
# Without a start, as after an import: seconds of the recording.
printf 'a;b 2\na;c 3\n' | import -o imported.up 2>/dev/null
echo "# imported"
report --format rows imported.up
report --format rows web.up web.up
report --format rows --invert web.up

# Other programs read it, and find all samples of each chain that folded has.
command -v python3 >/dev/null || skip "python3 is not installed"
make_plain
report -s big.sym --format rows big.up 2>/dev/null >rows
report -s big.sym --format folded big.up 2>/dev/null >folded
python3 - <<'END'
import collections, json
sums, keys = collections.Counter(), set()
for line in open("rows"):
    row = json.loads(line)
    sums[row["domain"] + ";" + ";".join(row["stack"])] += row["samples"]
    key = (row["second"], row["domain"], row["vcpu"], row["state"], *row["stack"])
    assert key not in keys, key
    keys.add(key)
folded = dict(line.rstrip("\n").rsplit(" ", 1) for line in open("folded"))
assert sums == {chain: int(count) for chain, count in folded.items()}
assert len({key[0] for key in keys}) > 1
print(sum(sums.values()), "samples in", len(sums), "chains")
END

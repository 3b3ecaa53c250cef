# More samples than fit into memory's share go through a temporary file. Samples of one
# vCPU in any order of time give the same file as those in order.
. "$CLI/lib.sh"
python3 - <<'END'
import random
random.seed(1)
head = "domain 0 1 2 2 1 many\n"
samples = [(1000 + i * 10, f"sample {1000 + i * 10} {i % 2} 1 0 {random.randrange(1, 50) * 4096}\n")
           for i in range(20000)]
for name in "ordered", "mixed":
    open(name, "w").write(head + "".join(line for _, line in samples) + "end 1 300000\n")
    random.shuffle(samples)
END
for name in ordered mixed; do
	"$MAKE_RECORDING" <$name >$name.up
	report -i $name.up --format speedscope -o $name.json 2>/dev/null
done
python3 - <<'END'
import json
profiles = {name: json.load(open(name + ".json")) for name in ("ordered", "mixed")}
def runs(profile):
    """Samples one by one, as those in order are merged."""
    names = [frame["name"] for frame in profile["shared"]["frames"]]
    return [[names[stack[0]] for stack, weight in zip(lane["samples"], lane["weights"])
             for _ in range(weight)] for lane in profile["profiles"]]
print([len(lane) for lane in runs(profiles["ordered"])],
      runs(profiles["ordered"]) == runs(profiles["mixed"]))
END
# Nowhere to put them: said, and no file is left.
mkdir none
trap "" XFSZ
ulimit -f 8
report -i ordered.up --format speedscope -o none/limited.json
ls none

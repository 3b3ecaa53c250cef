# Other programs accept --format histogram-json as JSON.
. "$CLI/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
make_recording web odd
for name in web odd; do
	report -i $name.up --format histogram-json -s "$data/$name.sym" --per-vcpu \
		2>/dev/null >$name.json
	python3 - $name.json <<END
import json, sys
report = json.load(open(sys.argv[1], encoding="utf-8"))
print(report["samples"], sum(row["self"] for row in report["functions"]))
END
done

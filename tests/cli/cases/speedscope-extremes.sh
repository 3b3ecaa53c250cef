# Names that are long or strange, a deep chain, huge times, no samples: Speedscope reads
# all of it, and its schema is kept. Times that go back are put in order.
. "$CLI/lib.sh"
need_modules speedscope ajv
make_hard
make_recording odd
echo "end 1 5" | "$MAKE_RECORDING" >empty.up
for weight in samples wall; do
	report -i hard.up -s hard.sym --format speedscope --weight $weight \
		-o hard-$weight.json 2>/dev/null
done
report -i odd.up -s "$data/odd.sym" --format speedscope -o odd.json
report -i empty.up --format speedscope -o empty.json
speedscope hard-samples.json hard-wall.json odd.json empty.json | shorten
node -e '
	const file = JSON.parse(require("fs").readFileSync("hard-wall.json"));
	console.log(file.name, Math.max(...file.profiles[0].samples.map(s => s.length)),
		file.profiles[0].weights, Number.isSafeInteger(file.profiles[0].endValue - 1));'
{
	echo "domain 0 1 2 1 1 back"
	echo "sample 3000 0 1 0 0x1000"
	echo "sample 1000 0 1 0 0x2000"
	echo "sample 2000 0 1 0 0x3000"
	echo "end 1 4000"
} | "$MAKE_RECORDING" >back.up
report -i back.up --format speedscope 2>/dev/null

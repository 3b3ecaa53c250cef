# Profiles of OpenTelemetry keep its schema, and each function has the same self and total as in
# the collapsed stacks.
. "$CLI/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
make_recording web two odd
report -i web.up -s "$data/web.sym" --format otlp -o web.otlp 2>/dev/null
otlp web.otlp
make_big
for weight in samples cpu-time wall; do
	for domain in big big,small; do
		report -i big.up -s big.sym --weight $weight --domain $domain --format otlp \
			-o big.otlp 2>/dev/null
		report -i big.up -s big.sym --weight $weight --domain $domain --format folded \
			2>/dev/null >folded
		[ $domain = big ] || sed -i 's/^[^;]*;//' folded
		self_and_total <folded | awk -F '\t' -v OFS='\t' -v weight=$weight '
			weight != "samples" { $2 *= 1000; $3 *= 1000 }
			{ printf "%s\t%.0f\t%.0f\n", $1, $2, $3 }' >expected
		otlp big.otlp | diff expected - && echo "$weight $domain:" $(wc -l <expected) functions agree
	done
done

# Names that are long or strange, a deep chain, huge times, no samples
make_hard
report -i hard.up -s hard.sym --weight wall --format otlp -o hard.otlp 2>/dev/null
otlp hard.otlp | shorten
report -i odd.up -s "$data/odd.sym" --format otlp -o odd.otlp 2>/dev/null
otlp odd.otlp
echo "end 1 5" | "$MAKE_RECORDING" >empty.up
report -i empty.up --format otlp -o empty.otlp 2>/dev/null
otlp empty.otlp

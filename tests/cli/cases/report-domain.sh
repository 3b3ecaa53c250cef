# Domains are reported separately, domains with equal names as one; --domain selects some.
. "$CLI/lib.sh"
make_recording two
for domain in web 3 7 8 "d b;1" web,8 7,8 8,web,7; do
	echo "$domain"
	report -i two.up --format folded -s "$data/plain.sym" --domain "$domain"
done
report -i two.up --format folded -s "$data/plain.sym"
for format in histogram histogram-csv histogram-json; do
	report -i two.up --format $format -s "$data/plain.sym" --per-vcpu
done
report -i two.up --format perf-script -s "$data/plain.sym" --domain 8
for domain in db 9 web,4 "web," ""; do
	report -i two.up --format folded -s "$data/plain.sym" --domain "$domain"
done

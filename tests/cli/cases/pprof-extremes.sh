# Names that are long or strange, a deep chain, huge times, no samples: Go's pprof reads
# all of it.
. "$CLI/lib.sh"
command -v go >/dev/null || skip "golang-go is not installed"
make_hard
for weight in samples wall; do
	report -i hard.up -s hard.sym --format pprof --weight $weight -o hard.pb.gz 2>/dev/null
	go tool pprof -symbolize=none -raw hard.pb.gz >raw
	awk '/^ *[0-9]+: [0-9 ]+$/ && NF > 1000 { $0 = $1 " " NF - 1 " locations" } { print }' raw |
		shorten
done
echo "end 1 5" | "$MAKE_RECORDING" >empty.up
report -i empty.up --format pprof -o empty.pb.gz
go tool pprof -top empty.pb.gz

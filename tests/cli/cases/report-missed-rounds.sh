# Outputs show the actual rate, not the requested one; and if more than a tenth of the
# rounds were missed, they warn that samples are biased, with advice.
. "$CLI/lib.sh"
command -v go >/dev/null || skip "golang-go is not installed"

# recorded MISSED WEIGHT [DOMAIN]: 100 rounds in 10 s, at a requested rate of 100 Hz
recorded()
{
	echo "info start 0"
	echo "info frequency 100000"
	echo "domain 0 1 2 1 1 web"
	echo "$3"
	echo "weight $2"
	i=0
	while [ $i -lt 100 ]; do
		echo "sample $((i * 100000000)) 0 1 0 0x1004"
		i=$((i + 1))
	done
	echo "pause 20000 100"
	echo "missed $1"
	echo "end 1 10000000000"
}

# rates: the rate in each output
rates()
{
	"$UNIPROF" info some.up | grep -e 'requested rate' -e 'actual rate'
	"$UNIPROF" report -i some.up --format flamegraph 2>/dev/null |
		grep -o 'in 10.0 s at [0-9.]* Hz'
	"$UNIPROF" report -i some.up --format histogram-json 2>/dev/null |
		grep -e frequency_hz -e rate_hz
	"$UNIPROF" report -i some.up --format pprof -o some.pb.gz 2>/dev/null
	go tool pprof -raw some.pb.gz 2>/dev/null | grep '^Period:'
}

# note OPTION...
note()
{
	"$UNIPROF" report -i some.up -o /dev/null -s "$data/web.sym" "$@" 2>&1 | grep missed
}

echo "# 900 of 1,000 rounds missed"
recorded 900 1 | "$MAKE_RECORDING" >some.up
rates
note
note --weight wall || echo "nothing to say"
echo "# at a lowered rate"
recorded 0 10 | "$MAKE_RECORDING" >some.up
rates
note || echo "nothing to say"
"$UNIPROF" report -i some.up -o /dev/null -s "$data/web.sym" 2>&1 | grep taken
echo "# a tenth of the rounds missed, and a little more"
recorded 11 1 | "$MAKE_RECORDING" >some.up
note || echo "nothing to say"
recorded 12 1 | "$MAKE_RECORDING" >some.up
note
echo "# missed rounds weigh less at a lowered rate"
recorded 12 10 | "$MAKE_RECORDING" >some.up
note || echo "nothing to say"
echo "# each of two domains"
recorded 100 1 "domain 1 2 2 1 1 db" | "$MAKE_RECORDING" >some.up
"$UNIPROF" info some.up | grep 'actual rate'

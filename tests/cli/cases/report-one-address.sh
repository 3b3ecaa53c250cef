# Two programs that two processes have at one address: each process has the names of its own, found by
# the return addresses of its calls.
. "$CLI/lib.sh"
build()
{
	name=$1
	shift
	g++ -std=c++17 -fno-pie -no-pie -Wl,--build-id=none -o "$name" "$@" || exit 1
}
build first -O0 "$data/nested.cc"
build second -O1 "$data/nested.cc"
objcopy --redefine-sym main=other_main second
# calls PROGRAM: samples of chains of its calls
calls()
{
	objdump -d --no-show-raw-insn "$1" |
		awk '/^ *[0-9a-f]+:/ { if (is_after) { sub(":", "", $1); list[n++] = "0x" $1 }
			is_after = $2 ~ /^call/ }
			END { for (i = 0; i < 100; i++)
				print "sample", 2000 + i, "0 1 0", list[i % n], list[(7 * i + 1) % n] }'
}
{
	echo "info start 1000"
	echo "domain 0 3 2 1 1 web"
	echo "space 0x1000"
	calls first
	echo "space 0x2000"
	calls second
	echo "end 1 9000"
} | "$MAKE_RECORDING" >web.up || exit 1
report -i web.up --format folded -s first -s second >both
report -i web.up --format folded -s first,space=0x1000 -s second,space=0x2000 | cmp - both && echo "the same"
report -i web.up --format folded -s second -s first | cmp - both && echo "in any order"
grep -q '^web:0x1000;' both && grep -q '^web:0x2000;' both && echo "apart"
# A recording has one name for an address: where it might be either program's, none is stored.
"$UNIPROF" archive -i web.up -o named.up -s first -s second 2>/dev/null || echo "archive failed"
report -i named.up --format folded --per-process 2>/dev/null >stored
awk '{ sub(/ [0-9]+$/, ""); part = $0; sub(/;.*/, "", part); n = split($0, frame, ";")
	for (i = 2; i <= n; i++)
		if (FNR == NR) has[part, frame[i]] = 1
		else if (frame[i] ~ /^0x/) unnamed++
		else if (!((part, frame[i]) in has)) wrong++ }
	END { print (unnamed > 0), wrong + 0 }' both stored
# Too few return addresses, but the recorder has seen which process has which file.
{
	echo "info start 1000"
	echo "domain 0 3 2 1 1 web"
	echo "unwound 2 9 first,second"
	echo "spaces 0 0x1000 1 0x2000"
	echo "space 0x1000"
	calls first | head -n 1
	echo "space 0x2000"
	calls second | head -n 1
	echo "end 1 9000"
} | "$MAKE_RECORDING" >web.up || exit 1
report -i web.up --format folded -s first,space=0x1000 -s second,space=0x2000 >both
report -i web.up --format folded -s first -s second | cmp - both && echo "by the recorder"

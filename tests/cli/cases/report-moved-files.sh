# A kernel and a program, both PIE and without build-ids, that the guest moved: found by the return
# addresses of their calls, in each domain and process. Files of other programs are not.
. "$CLI/lib.sh"
build()
{
	name=$1
	shift
	g++ -std=c++17 -fPIE -pie -Wl,--build-id=none -o "$name" "$@" || exit 1
}
build kernel -O0 "$data/nested.cc"
build app -O2 "$data/nested.cc"
build other -O1 "$data/nested.cc"
# chains KERNEL APP: samples of chains from calls of app to calls of kernel, as loaded there
chains()
{
	for program in kernel app; do
		objdump -d --no-show-raw-insn $program |
			awk '/^ *[0-9a-f]+:/ { if (is_after) { sub(":", "", $1); print $1 }
				is_after = $2 ~ /^call/ }' | head -n 60 >$program.calls
	done
	python3 - "$1" "$2" <<'END'
import sys
kernel, app = ([int(line, 16) + int(move, 0) for line in open(name)]
               for name, move in (("kernel.calls", sys.argv[1]), ("app.calls", sys.argv[2])))
for i in range(200):
    chain = [kernel[i % len(kernel)], kernel[(7 * i + 1) % len(kernel)],
             app[i % len(app)], app[(3 * i + 2) % len(app)]]
    print("sample", 2000 + i, 0, 1, 0, *(address % 2**64 for address in chain))
END
}
record()
{
	{
		echo "info start 1000"
		cat
		echo "end 1 9000"
	} | "$MAKE_RECORDING" >web.up || exit 1
}
unnamed()
{
	report -i web.up --format folded "$@" 2>err >folded
	awk '{ all++ } /;0x/ { bad++ } END { printf "%d of %d chains lack names\n", bad, all }' folded
}
kmove=0xffffffffb4e00000 amove=0x5581b2a05000
{ echo "domain 0 3 2 1 1 web"; chains $kmove $amove; } | record
echo "# given and found"
unnamed -s kernel@$kmove -s app@$amove
cp folded wanted
unnamed -s kernel -s app
cmp wanted folded
unnamed -v -s kernel -s app
grep '^uniprof report: found' err
echo "# from a pipe"
cat web.up | report -i - -s kernel -s app --format folded 2>/dev/null | cmp - wanted && echo "found"
echo "# an offset that is given is used, 0 too"
unnamed -s kernel@0 -s app
echo "# not of what ran"
unnamed -v -s other
grep '^uniprof report: found' err
echo "# stored"
"$UNIPROF" archive -i web.up -o named.up -s kernel -s app 2>&1 | sed "s/: [0-9]* bytes.*//"
report -i named.up --format folded 2>/dev/null | cmp - wanted && echo "stored"
echo "# two domains, and two processes of one"
{
	echo "domain 0 3 2 1 1 web"
	echo "domain 1 4 2 1 1 db"
	echo "space 0x1000"
	chains $kmove $amove
	echo "space 0x2000"
	chains $kmove 0x55e7b2a16000
	echo "in 1"
	echo "space 0x1000"
	chains 0xffffffff9a200000 0x7f0000000000
} | record
unnamed -s kernel -s app -v
grep '^uniprof report: found' err
unnamed --per-process -s kernel -s app
echo "# too few return addresses"
{ echo "domain 0 3 2 1 1 web"; chains $kmove $amove 2>/dev/null | head -n 3; } | record
unnamed -s kernel -s app
echo "# too few, but the recorder found the files"
few()
{
	echo "domain 0 3 2 1 1 web"
	echo "unwound 2 9 $1"
	echo "moves $2"
	chains $kmove $amove 2>/dev/null | head -n 3
}
few app,kernel "$amove $kmove" | record
unnamed -v -s kernel -s app
grep '^uniprof report: found' err
report -i web.up --format folded -s kernel@$kmove -s app@$amove 2>/dev/null | cmp - folded
cat web.up | report -i - -s kernel -s app --format folded 2>/dev/null | cmp - folded && echo "from a pipe"
"$UNIPROF" archive -i web.up -o named.up -s kernel -s app 2>/dev/null
report -i named.up --format folded 2>/dev/null | cmp - folded && echo "stored"
echo "# no return address at all"
{ few app,kernel "$amove $kmove" | head -n 3; printf 'sample 2000 0 1 0 %s\n' \
	"$(python3 -c "print($kmove + 0x$(head -n 1 kernel.calls) + 1)")"; } | record
report -v -i web.up --format folded -s kernel -s app 2>err | grep -c 0x
grep '^uniprof report: found' err
echo "# which of two files of one name, nobody knows"
few app,app "$amove $kmove" | record
unnamed -s app
echo "# the recorder was wrong"
{ few app,kernel "$kmove $amove" | head -n 3; chains $kmove $amove; } | record
unnamed -s kernel -s app
cmp folded wanted

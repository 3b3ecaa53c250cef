# --format perf-script is, byte for byte, what the real perf prints for --format perf-data.
# Not with sanitizers: perf-data and report-cores write both formats with them.
. "$CLI/lib.sh"
need_perf

# same WHAT RECORDING OPTION...; perf is also given $perf_options
perf_options=
same()
{
	what=$1 recording=$2
	shift 2
	report -i "$recording" --format perf-script "$@" >ours 2>/dev/null
	report -i "$recording" --format perf-data -o perf.data "$@" 2>/dev/null
	# Chains have up to 1,024 addresses; by default, perf shows 127.
	perf script -i perf.data --max-stack 1024 $perf_options \
		-F comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso >perfs 2>err
	cat err
	cmp ours perfs && echo "$what: $(grep -c . ours) lines, $(grep -c '+0x' ours) names"
}

make_elf low.elf 0x1000 --build-id
make_elf packed.elf 0x1000 -N
make_elf high.elf 0xffffffff80001000
make_elf kernel.elf 0xffffffff80000000 -T "$data/kernel.lds"
make_recording web two odd recursion boundary
sed 's/0x\([19]...\)\b/0xffffffff8000\1/g' "$data/web.txt" | "$MAKE_RECORDING" >high.up
{
	echo "info start 1000"
	echo "domain 0 5 2 1 8192 a domain (with) blanks"
	echo "weight 5"
	echo "sample 1999999 0 1 0 0x1004 0x1108"
	echo "sample 2000000 8191 1 0"
	echo "in 3"
	echo "sample 3000000 0 1 0 0x1004 0 0x1108"
	echo "in 0"
	echo "weight 1"
	echo "sample 4000000 0 1 0$(printf ' 0x%x' $(seq 4097 4352))"
	echo "end 1 5000000"
} | "$MAKE_RECORDING" >edges.up
{
	echo "info start 1000"
	echo "domain 0 5 2 1 4 big"
	echo "domain 1 6 2 1 4 small"
	echo "cpu-time 400000"
	echo "many 5000 500 40 40"
	echo "in 1"
	echo "cpu-time 300000"
	echo "many 500 500 10 40"
	echo "end 1 90000000000"
} | "$MAKE_RECORDING" >big.up
for i in $(seq 0 40); do
	echo ".globl f$i; .type f$i, %function; f$i: .fill 256; .size f$i, 256"
done | as -o big.o
ld -o big.elf -Ttext 0x100000 -e f0 big.o

for recording in web two odd recursion boundary edges; do
	same $recording $recording.up -s low.elf
done
same packed web.up -s packed.elf
same high high.up -s high.elf
same kernel high.up -s kernel.elf
same offset high.up -s low.elf@0xffffffff80000000
same "without names" web.up
same "own names" two.up -s low.elf,domain=web -s big.elf
same "the first file" web.up -s packed.elf -s low.elf
for weight in samples cpu-time wall; do
	same "$weight" big.up -s big.elf --weight $weight
done
same "a domain" big.up -s big.elf --domain small
# perf and uniprof choose the same of several names for an address.
for names in 'copy move_it t:longest_of_all' 'w:weak_name t:local' \
	't:_few t:__underscores w:weak' 'twin_b twin_a'; do
	for name in $names; do
		case $name in
		w:*) echo ".weak ${name#*:}" ;;
		t:*) ;;
		*) echo ".globl $name" ;;
		esac
		echo ".type ${name#*:}, %function; ${name#*:}:"
	done
	echo ".fill 256"
	for name in $names; do
		echo ".size ${name#*:}, . - ${name#*:}"
	done
done | as -o aliases.o
ld -o aliases.elf -Ttext 0x1000 -e 0x1000 aliases.o
same aliases web.up -s aliases.elf
grep -o ' [a-z_]*+' perfs | sort -u | tr -d '\n' && echo
# perf and uniprof demangle names, without parameters.
for name in _ZN3foo3barEi _ZN4listIiE4pushERKi.isra.0 _ZN4shop6squareILi3EEEii; do
	echo ".globl $name; .type $name, %function; $name: .fill 256; .size $name, 256"
done | as -o c++.o
ld -o c++.elf -Ttext 0x1000 -e 0x1000 c++.o
same C++ web.up -s c++.elf
grep -o ' [a-z:<0-9>]*+' perfs | sort -u | tr -d '\n' && echo
perf_options=--no-demangle
same "C++ as it is" web.up -s c++.elf --no-demangle

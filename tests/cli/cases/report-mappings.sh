# A program that two processes have at different addresses, as their mappings say: named by the file
# where it is known, and by its place in the file where not.
. "$CLI/lib.sh"
mkdir -p root/opt other/opt
cat >app.c <<'END'
__attribute__((noinline)) int work(int n) { return n * n + 1; }
__attribute__((noinline)) int middle(int n) { return work(n) + 2; }
int main(void) { return middle(3) + 3; }
END
build() # build FILE [OPTION...]
{
	file=$1
	shift
	gcc -O1 -fno-inline -fPIE -pie "$@" -o "$file" app.c || exit 1
}
build root/opt/app -Wl,--build-id=0x0123456789abcdef
build other/opt/app -Wl,--build-id=0xfedcba9876543210
# value FILE NAME: the symbol's address
value() { nm "$1" | awk -v name="$2" '$3 == name { print "0x" $1 }'; }
# The first segment with code: its place in the file, address and size
segment()
{
	readelf -lW root/opt/app | awk '/LOAD/ && / E / { print $2, $3, $6; exit }'
}
set -- $(segment)
start=$(($2 / 4096 * 4096)) size=$(((($2 + $3 + 4095) / 4096 * 4096) - start))
offset=$(($1 / 4096 * 4096))
work=$(value root/opt/app work) middle=$(value root/opt/app middle) main=$(value root/opt/app main)
process() # process SPACE PID BASE [BUILD-ID]
{
	echo "space $1"
	echo "process $2 app"
	echo "mapping $((1000 + $2)) $(($3 + start)) $size $offset /opt/app $4"
	echo "sample $((1000 + $2)) 0 1 0 $(($3 + work + 2)) $(($3 + middle + 2)) $(($3 + main + 2))"
}
id=0123456789abcdef
{
	echo "domain 0 3 2 1 1 linux"
	process 0x3000 10 0x555500000000 $id
	process 0x5000 20 0x7fff12300000 $id
	echo "sample 1900 0 1 0 $((0x7fff12300000 + size + start + 64))"
	echo "end 1 9000"
} | "$MAKE_RECORDING" >two.up || exit 1
{
	echo "domain 0 3 2 1 1 linux"
	process 0x3000 10 0x555500000000
	echo "end 1 9000"
} | "$MAKE_RECORDING" >unknown.up || exit 1
places() { sed "s/+0x[0-9a-f]*/+PLACE/g; s/0x7ff[0-9a-f]*/ELSEWHERE/g; s/cover 0x[0-9a-f]*-0x[0-9a-f]*/cover RANGE/"; }
folded() { { report -i "$@" --format folded 2>err; cat err; } | places; }
echo "# without the file"
folded two.up
echo "# with the file"
folded two.up -s root/opt/app
echo "# below a directory"
folded two.up --symfs root
echo "# of another build"
folded two.up --symfs other
folded two.up -s other/opt/app
echo "# nobody knows which build"
folded unknown.up --symfs other
folded unknown.up --symfs root
echo "# from a pipe"
report -i - --format folded --symfs root <two.up 2>/dev/null | wc -l
echo "# the files of processes"
report two.up --symfs root -n 3 2>&1 | places
echo "# names that are stored, in a recording of another guest, too"
cp two.up stored.up
"$UNIPROF" archive stored.up --symfs root 2>&1 | sed "s/: [0-9]* bytes, .*//" | places
{
	echo "domain 0 3 2 1 1 other"
	echo "space 0x9000"
	echo "process 7 app"
	echo "mapping 1000 0x10000 0x1000 0 /opt/first"
	process 0x3000 10 0x555500000000 $id
	echo "end 1 9000"
} | "$MAKE_RECORDING" >other.up || exit 1
folded stored.up
report -i - --format folded <stored.up 2>/dev/null | places
report -i other.up -i stored.up --format folded 2>/dev/null | places
for format in perf-script histogram-csv; do
	echo "# $format"
	report -i two.up --symfs root --format $format 2>/dev/null | places | sed "s/^\(\t *\)[0-9a-f]* /\1ADDRESS /"
done

# Names that are long or strange, a deep chain, huge times, no samples: callgrind_annotate
# reads all of it without a warning.
. "$CLI/lib.sh"
command -v callgrind_annotate >/dev/null || skip "valgrind is not installed"
make_hard
for weight in samples wall; do
	report -i hard.up -s hard.sym --format callgrind --weight $weight -o hard 2>/dev/null
	callgrind_annotate --auto=no --threshold=100 --inclusive=yes hard 2>&1 |
		shorten
done
# Index 0, id 7, and " b" for its name.
printf '%s\n' "chunk 2 01 01 00 02 01 07 03 02 20 62" "sample 1 0 1 0 0x1000" "end 1 2" |
	"$MAKE_RECORDING" >blank.up
report -i blank.up --format callgrind 2>/dev/null | grep -e ^fl -e ^cmd
echo "end 1 5" | "$MAKE_RECORDING" >empty.up
report -i empty.up --format callgrind -o empty
callgrind_annotate empty 2>&1

# callgrind_annotate reads --format callgrind.
. "$CLI/lib.sh"
command -v callgrind_annotate >/dev/null || skip "valgrind is not installed"
make_recording web two odd recursion
report -i two.up --format callgrind -s "$data/web.sym"
annotate()
{
	callgrind_annotate --auto=no --threshold=100 "$@" 2>&1
}

for name in web odd recursion; do
	report -i $name.up --format callgrind -s "$data/$name.sym" -o $name 2>/dev/null
	annotate --inclusive=yes $name
done
report -i two.up --format callgrind -s "$data/web.sym" --weight cpu-time -o two 2>/dev/null
annotate --inclusive=yes --tree=both two

# With --srcline, pprof, callgrind and speedscope have source lines in their line fields:
# their own tools list the source, and each line has as many samples as in the names of the
# collapsed stacks. Function names have no line.
. "$CLI/lib.sh"
need_modules speedscope ajv
command -v go >/dev/null || skip "golang-go is not installed"
command -v callgrind_annotate >/dev/null || skip "valgrind is not installed"
build_shop
sample_functions shop 'Cart3addEi|main'

# by_line: the samples of each line, from "LINE SAMPLES" lines
by_line()
{
	awk '{ sum[$1] += $2 } END { for (line in sum) print line, sum[line] }' | sort -n
}

report -i shop.up -s shop --srcline --inline --format folded |
	sed 's/^.*shop\.cc:\([0-9]* [0-9]*\)$/\1/' | by_line >wanted
[ "$(wc -l <wanted)" -gt 5 ] && echo "several lines"

for format in pprof callgrind speedscope; do
	report -i shop.up -s shop --srcline --inline --format $format -o shop.$format
done
echo "# pprof"
go tool pprof -list . shop.pprof 2>/dev/null | sed -n 's/^ROUTINE =* \(.*\)/\1/p' |
	sed "s,$PWD,HERE," | sort
go tool pprof -list . shop.pprof 2>/dev/null |
	awk '$3 ~ /^[0-9]+:/ && $1 != "." { print $3 + 0, $1 }' | by_line | diff wanted - &&
	echo "the same lines"
go tool pprof -list 'Cart::add' shop.pprof 2>/dev/null | sed -n 's/^.* 31: *//p'
go tool pprof -raw shop.pprof 2>/dev/null | sed -n '/^Mappings/,$ p' | grep -o 'shop .*' |
	sed "s/$(readelf -n shop | sed -n 's/.*Build ID: //p')/BUILD-ID/"
echo "# callgrind"
awk '/^calls=/ { getline; next } /^[0-9]/ { print }' shop.callgrind | by_line |
	diff wanted - && echo "the same lines"
callgrind_annotate --threshold=100 shop.callgrind >annotated
sed -n 's/^.*%) *\(shop.cc:[^ ]*\).*/\1/p' annotated | sort -u
grep -o '=> .*' annotated | sed "s,$PWD,HERE," | sort
grep -c '%)[[:space:]]*return n \* n;' annotated
echo "# speedscope"
speedscope shop.speedscope | sed -n 's/^frame\t\([^\t]*\)\t.*/\1/p' | sort -u
grep -o '"name": "[^"]*", "file": "[^"]*", "line": [0-9]*' shop.speedscope |
	sed "s,$PWD,HERE," | sort -u | grep square

echo "# a line belongs to the function that it is in, unless inlined ones are shown"
report -i shop.up -s shop --srcline --format pprof -o shop.pprof
go tool pprof -list . shop.pprof 2>/dev/null | sed -n 's/^ROUTINE =* \(.*\) in.*/\1/p' | sort
go tool pprof -list . shop.pprof 2>/dev/null |
	awk '$1 != "." && $3 == "31:" { print ($1 == $2), $4, $5, $6 }'

echo "# without DWARF there are no lines"
strip -g shop
report -i shop.up -s shop --srcline --format pprof -o shop.pprof 2>/dev/null
go tool pprof -raw shop.pprof 2>/dev/null | sed -n '/^Mappings/,$ p' | grep -o '\[.*\]'
report -i shop.up -s shop --srcline --format callgrind 2>/dev/null | grep -e '^fl=' -e '^0 ' |
	head -n 4

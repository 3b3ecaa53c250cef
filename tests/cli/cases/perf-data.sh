# All commands of the real perf read --format perf-data like a file of its own.
. "$CLI/lib.sh"
need_perf
# A path may contain any character.
mkdir "a b'(c)"
make_elf "a b'(c)/web.elf" 0x1000 --build-id
make_recording web two
report -i web.up --format perf-data -s "a b'(c)/web.elf" -o perf.data 2>/dev/null

echo "== report"
perf report --stdio --no-children -g folded,count | grep -v -e '^$' -e Tip:
echo "== header"
perf report --header-only | grep -v -e 'captured on' -e 'data size' -e 'feat offset' \
	-e 'missing features'
echo "== evlist"
perf evlist -v
echo "== buildid-list"
readelf -n "a b'(c)/web.elf" | sed -n "s|.*Build ID: \(.*\)|\1 $PWD/a b'(c)/web.elf|p" >wanted
perf buildid-list | diff wanted - && echo "as readelf has it"
echo "== annotate"
perf annotate --stdio leaf 2>&1 | grep -c nop
echo "== stackcollapse"
perf script report stackcollapse
echo "== the program is gone, but in perf's cache; then there is another one"
perf buildid-cache --add "a b'(c)/web.elf"
mv "a b'(c)/web.elf" kept.elf
perf script -F ip,sym | sort | uniq -c | grep 1004
rm -r .debug
make_elf "a b'(c)/web.elf" 0x1000 -N --build-id
perf script -F ip,sym | sort | uniq -c | grep 1004
mv kept.elf "a b'(c)/web.elf"
echo "== diff"
mv perf.data old.data
report -i two.up --format perf-data -s "a b'(c)/web.elf" -o perf.data 2>/dev/null
perf diff old.data perf.data | grep -v '^$'
perf report --stdio --no-children -g none --sort comm,pid | grep -v -e '^$' -e '^#'

echo "== totals"
for weight in samples cpu-time wall; do
	report -i two.up --format perf-data -o perf.data --weight $weight 2>/dev/null
	perf script -F period | awk -v weight=$weight '{ n += $1 }
		END { print weight == "samples" ? n : n / 1000 }'
	report -i two.up --format folded --weight $weight 2>/dev/null |
		awk '{ n += $NF } END { print n }'
	perf evlist
done

echo "== outputs"
report -i web.up --format perf-data -o file 2>/dev/null
report -i web.up --format perf-data 2>/dev/null >redirected
report -i web.up --format perf-data 2>/dev/null | cat >piped
echo "something before" >appended
report -i web.up --format perf-data 2>/dev/null >>appended
tail -n +2 appended >without
cmp file redirected && cmp file piped && cmp file without && echo "the same"

echo "== without samples"
printf 'info start 1000\nend 1 5000\n' | "$MAKE_RECORDING" >empty.up
report -i empty.up --format perf-data -o perf.data
perf script
perf report --stdio 2>&1

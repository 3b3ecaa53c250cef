# Names in a recording apply to its own domains only, also in a report of several
# recordings, whether their domains have the same name or not.
. "$CLI/lib.sh"
cat >first.perf <<'END'
web 3/30000 [000] 1.000000: 1 cpu-clock:
	1004 leaf+0x4 (web.elf)
	1108 main+0x8 (web.elf)

db 7/70001 [001] 1.000250: 1 cpu-clock:
	1004 other+0x104 (db.elf)

END
cat >second.perf <<'END'
web 3/30000 [000] 1.000000: 1 cpu-clock:
	1004 newer+0x4 (web.elf)
	1108 main+0x8 (web.elf)

END
import -o first.up first.perf
import -o second.up second.perf
for order in "first.up second.up" "second.up first.up"; do
	echo "# $order"
	report $order --format folded
	report $order --format folded --parent '^main$' --symbol-filter newer
done
# One has names, the other has the same address without a name.
make_recording web
report web.up second.up --format folded 2>/dev/null | grep -e newer -e 0x1004

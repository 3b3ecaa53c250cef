# Name and id identify a domain; an address has a separate name in each domain.
. "$CLI/lib.sh"
cat >two.perf <<'END'
web 3/30000 [000] 1.000000: 1 cpu-clock:
	1004 leaf+0x4 (web.elf)
	1108 main+0x8 (web.elf)

db 7/70001 [001] 1.000250: 1 cpu-clock:
	1004 other+0x104 (db.elf)
	1108 begin+0x108 (db.elf)

db 9/90000 [000] 1.000500: 1 cpu-clock:
	1004 third+0x0 (db.elf)

END
import -o two.up two.perf
report -i two.up --format folded
report -i two.up --format perf-script --domain 7
info two.up | grep -E '^ *(name|id|names|duration) '

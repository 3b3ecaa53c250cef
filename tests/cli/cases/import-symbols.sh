# Symbol files take precedence over names in the recording.
. "$CLI/lib.sh"
cat >text <<'END'
web 3/30000 [000] 1.000000: 1 cpu-clock:
	1004 old_leaf+0x4 (old.elf)
	5008 old_main+0x8 (old.elf)

END
import -o a.up text
report -i a.up --format perf-script -s "$data/web.sym"
report -i a.up --format histogram

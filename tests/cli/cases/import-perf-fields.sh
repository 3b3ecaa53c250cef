# perf script output with more or fewer fields: source lines, no event, no period; and the
# DSO of addresses without a name.
. "$CLI/lib.sh"
try()
{
	import -o a.up
	report -i a.up --format perf-script
}
tab=$(printf '\t')
try <<END
busy 31491  1097.058213:    1000000 cpu-clock: 
${tab}            1156 leaf+0x1d (/home/me/busy)
  busy.c:3
${tab}            1184 f2+0xc (/home/me/busy)
  a b/c.c:12
${tab}ffffffff817554ea elf_load+0x28a ([kernel.kallsyms])
  [kernel.kallsyms][ffffffff817554ea]

END
try <<END
           busyi  6580  1355.766406:    5000000 cpu-clock:      55e2fc021181 f1+0x21 (/tmp/busyi)
  <stdin>:2
           busyi  6580  1355.779431:    5000000 cpu-clock:      55e2fc021175 f1+0x15 (/tmp/busyi)
  busy.c:77
END
try <<END
           busyi  6715  1358.839676:      5605d23d4178 f1
           busyi  6715  1358.853922:            401136 operator new(unsigned long)
           busyi  6715  1358.878902: cpu-clock:      5605d23d4181 f1
END
try <<END
web 1 [000] 1.0: 1 cpu-clock:
${tab}7000 [unknown] (/usr/lib/libz.so.1)
${tab}7001 [unknown] (/usr/lib/libz.so.1)
${tab}8000 [unknown] ([unknown])
${tab}0 [unknown] (/lib/x)
${tab}4000000000000010 [unknown] (/lib/odd)

END
report -i a.up --format folded

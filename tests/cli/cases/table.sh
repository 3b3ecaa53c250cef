# uniprof table: the tables made of ELF files, and the files that are refused. The
# table of a damaged file is never used: record reads it before it looks for Xen.
. "$CLI/lib.sh"
need_no_hypervisor
table()
{
	"$UNIPROF" table "$@" 2>err || echo "exit code $?"
	sed 's/[0-9]* bytes in memory/N bytes in memory/' err >&2
}
record()
{
	without_devices "$UNIPROF" record "$@" web || echo "exit code $?"
}
cat >web.s <<'END'
	.globl f, g
	.type f, @function
f:	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	call g
	mov $0x12345678, %eax
	lea 0x11223344(%rax, %rcx, 2), %rdx
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size f, . - f
	.type g, @function
g:	nop
	ret
	.size g, . - g
END
as -o web.o web.s && ld -o web.elf -Ttext 0x100000 -e f --build-id=sha1 web.o || exit 1
echo "# f has call frame information, g only code"
table web.elf -o web.tbl
test -s web.tbl || echo "there is no table"
table -o - web.elf@0x1000 web.elf | wc -c
echo "# compressed, and stripped"
gzip -k web.elf
table web.elf.gz -o gz.tbl
strip -o stripped.elf web.elf
table stripped.elf -o stripped.tbl
echo "# a separate debug file has the only rules"
sed -i '1i .cfi_sections .debug_frame' web.s
as -o debug.o web.s && ld -o whole.elf -Ttext 0x100000 -e f debug.o || exit 1
objcopy --only-keep-debug whole.elf whole.debug
strip -o apart.elf whole.elf
objcopy --add-gnu-debuglink=whole.debug apart.elf
table apart.elf -o apart.tbl
mv whole.debug moved.debug
echo "# refused"
table apart.elf -o x.tbl
table moved.debug -o x.tbl
as --32 -o 32.o /dev/null && ld -m elf_i386 -o 32.elf -e 0 32.o
table 32.elf -o x.tbl
echo "	ret" | as -o short.o && ld -o short.elf -e 0 short.o
table short.elf -o x.tbl
table web.o -o x.tbl
table web.s -o x.tbl
table nothing -o x.tbl
table web.elf
table -o x.tbl
table web.elf -o web.elf
table web.elf -o missing/x.tbl
table web.tbl -o x.tbl
ls x.tbl 2>&1
echo "# record reads the table"
record --table web.tbl
record --table web.tbl,domain=web --table gz.tbl
record --table web.tbl --table gz.tbl
record --table web.tbl -s web.elf
record --table web.elf
record --table nothing
record -s web.elf
record -s web.tbl
record -s web.elf,domain=
record --call-graph table
record --call-graph fp -s web.elf
record --call-graph table:
record --call-graph table:nothing
record --call-graph dwarf
record --call-graph stack -s web.elf
record --call-graph stack,100
record --call-graph stack,65537
record --call-graph stack,
record --call-graph stack,1024
echo "# damage: each byte, and each length"
python3 - "$UNIPROF" <<'END'
import subprocess, sys
data = open("web.tbl", "rb").read()
def verdict(bytes):
    open("bad.tbl", "wb").write(bytes)
    run = subprocess.run([sys.argv[1], "record", "--table", "bad.tbl", "web"],
                         capture_output=True, text=True)
    lines = run.stderr.splitlines()
    return (run.returncode == 1 and len(lines) == 1 and
            lines[0].startswith("uniprof record: bad.tbl"))
accepted = [i for i in range(len(data))
            if not verdict(data[:i] + bytes([data[i] ^ 0x41]) + data[i + 1:])]
print("a changed byte is accepted at", accepted or "no offset")
accepted = [i for i in range(0, len(data)) if not verdict(data[:i])]
print("a cut is accepted at", accepted or "no offset")
END

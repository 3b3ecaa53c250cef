# uniprof table: a Linux kernel, as ELF file and in boot images. Its ORC has priority over call
# frame information.
. "$CLI/lib.sh"
need_no_hypervisor
table()
{
	"$UNIPROF" table "$@" 2>err || echo "exit code $?"
	sed 's/[0-9]* bytes in memory/N bytes in memory/' err >&2
}
cat >linux.s <<'END'
	.globl _text
	.type _text, @function
_text:	.cfi_startproc
	mov $0x12345678, %eax
	lea 0x11223344(%rax, %rcx, 2), %rdx
	ret
	.cfi_endproc
	.size _text, . - _text
	.fill 100, 1, 0xcc
end:
	.section .orc_unwind_ip, "a"
	.long _text - ., _text + 1 - ., _text + 2 - ., end - .
	.section .orc_unwind, "a"
	.short 8, 0, 0x205, 8, 0, 0x205, 16, 0, 0x205, 0, 0, 0
END
as -o linux.o linux.s &&
	ld -o vmlinux -Ttext 0xffffffff81000000 -e _text --build-id=sha1 linux.o || exit 1
strip vmlinux
table vmlinux -o vmlinux.tbl
# pack COMMAND...: a boot image with the kernel packed by the command, and its size
pack()
{
	"$@" <vmlinux >packed || exit 1
	python3 - "$1" <<'END'
import struct, sys
packed = open("packed", "rb").read()
if sys.argv[1] != "gzip":
    packed += struct.pack("<I", 1234)
image = bytearray(1536)
image[0x1f1] = 1
image[0x202:0x208] = b"HdrS" + struct.pack("<H", 0x20f)
image[0x248:0x250] = struct.pack("<II", 512, len(packed))
open("vmlinuz", "wb").write(image + packed + b"after")
END
}
same()
{
	table vmlinuz -o vmlinuz.tbl
	tail -c 60 vmlinuz.tbl | cmp - ranges || echo "the table differs"
}
tail -c 60 vmlinux.tbl >ranges
for command in "gzip -9" "xz --check=crc32" "zstd -q" "bzip2 -9" "lzma -9" "lz4 -l -9"; do
	echo "# $command"
	pack $command
	same
done
echo "# a kernel that says where its tasks are: by types and exported symbols"
python3 - <<'END'
import struct
strings, types = bytearray(b"\0"), bytearray()


def name(text):
    strings.extend(text.encode() + b"\0")
    return len(strings) - len(text) - 1


def add(kind, text, members):
    types.extend(struct.pack("<III", name(text), kind << 24 | len(members), 0))
    for member, offset in members:
        types.extend(struct.pack("<III", name(member), 0, 8 * offset))


add(4, "task_struct", [("tgid", 16), ("comm", 24), ("group_leader", 40), ("mm", 48)])
add(4, "mm_struct", [("pgd", 8)])
header = struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(types), len(types), len(strings))
open("btf", "wb").write(header + types + strings)
rows, names, at = b"", b"", 0xffffffff82000000
for text, address in (("current_task", 0x1000), ("__per_cpu_offset", 0xffffffff81000010)):
    place = at + len(rows)
    rows += struct.pack("<III", address - place & 0xffffffff,
                        at + 0x1000 + len(names) - place - 4 & 0xffffffff, 0)
    names += text.encode() + b"\0"
open("rows", "wb").write(rows)
open("names", "wb").write(names)
END
objcopy --add-section .BTF=btf \
	--add-section __ksymtab=rows --set-section-flags __ksymtab=alloc,readonly \
	--change-section-address __ksymtab=0xffffffff82000000 \
	--add-section __ksymtab_strings=names --set-section-flags __ksymtab_strings=alloc,readonly \
	--change-section-address __ksymtab_strings=0xffffffff82001000 vmlinux typed 2>/dev/null || exit 1
table typed -o typed.tbl
echo "# refused"
head -c 1600 vmlinuz >short && table short -o x.tbl
{ head -c 1536 vmlinuz && printf xxxx && tail -c +1541 vmlinuz; } >other && table other -o x.tbl
{ head -c 1600 vmlinuz && printf xxxx && tail -c +1605 vmlinuz; } >damaged && table damaged -o x.tbl
{ head -c 1536 vmlinuz && printf '\211LZO\0' && tail -c +1542 vmlinuz; } >lzo && table lzo -o x.tbl
{ head -c 518 vmlinuz && printf '\0\2' && tail -c +521 vmlinuz; } >old && table old -o x.tbl
objcopy -R .orc_unwind vmlinux none && table none -o none.tbl
printf xxxxxx >one.row && objcopy --update-section .orc_unwind=one.row vmlinux more.elf && table more.elf -o x.tbl

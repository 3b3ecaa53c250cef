/* Processed by the C preprocessor. */
#include "cpu.h"

ENTRY(image_start)

PHDRS
{
	text PT_LOAD FLAGS(5);
	data PT_LOAD FLAGS(6);
	note PT_NOTE FLAGS(4);
	stack PT_GNU_STACK FLAGS(6);
}

SECTIONS
{
	. = BASE + IMAGE_PHYS;

	.text : AT(ADDR(.text) - BASE) {
		*(.head)
		*(.text .text.*)
	} :text
	.note.gnu.build-id : AT(ADDR(.note.gnu.build-id) - BASE) {
		*(.note.gnu.build-id)
	} :text :note
	.rodata : AT(ADDR(.rodata) - BASE) {
		*(.rodata .rodata.*)
	} :text

	. = ALIGN(0x10000);
	.data : AT(ADDR(.data) - BASE) {
		*(.data .data.* .got .got.plt)
		. = ALIGN(16);
		image_end = .;
	} :data
	.bss (NOLOAD) : AT(ADDR(.bss) - BASE) {
		. = ALIGN(64);
		boot_begin = .;
		*(.bss.boot)
		. = ALIGN(64);
		boot_cleared = .;
		*(.bss.tables)
		. = ALIGN(64);
		boot_end = .;

		*(.bss)
		. = ALIGN(64);
		bss_end = .;
		*(.bss.stacks)
		bss_limit = .;
	} :data

	ASSERT(bss_limit - BASE <= IMAGE_LIMIT, "the image is too long")

	/DISCARD/ : {
		*(.comment .note.GNU-stack .note.gnu.property .ARM.exidx .ARM.extab)
	}
}

/* Processed by the C preprocessor. */
#include "cpu.h"

OUTPUT_FORMAT(elf32-i386)
ENTRY(_start)

PHDRS
{
	text PT_LOAD FLAGS(5);
	data PT_LOAD FLAGS(6);
	note PT_NOTE FLAGS(4);
	stack PT_GNU_STACK FLAGS(6);
}

SECTIONS
{
	. = BASE + 0x100000;

	.text : AT(ADDR(.text) - BASE) {
		*(.text .text.*)
	} :text
	.note.Xen : AT(ADDR(.note.Xen) - BASE) {
		*(.note.Xen)
	} :text :note
	.note.gnu.build-id : AT(ADDR(.note.gnu.build-id) - BASE) {
		*(.note.gnu.build-id)
	} :text :note
	.rodata : AT(ADDR(.rodata) - BASE) {
		*(.rodata .rodata.*)
	} :text

	. = ALIGN(PAGE_SIZE);
	.data : AT(ADDR(.data) - BASE) {
		*(.data .data.*)
	} :data
	.bss : AT(ADDR(.bss) - BASE) {
		*(.bss .bss.*)
	} :data

	/DISCARD/ : {
		*(.comment .eh_frame .note.GNU-stack .note.gnu.property)
	}
}

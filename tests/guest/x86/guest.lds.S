/* Processed by the C preprocessor. */
#include "cpu.h"

OUTPUT_FORMAT(elf64-x86-64)
ENTRY(start_pvh)

PHDRS
{
	text PT_LOAD FLAGS(5);
	data PT_LOAD FLAGS(6);
	stacks PT_LOAD FLAGS(6);
	note PT_NOTE FLAGS(4);
	eh_frame_hdr PT_GNU_EH_FRAME FLAGS(4);
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

	/* Empty in the build with frame pointers. */
	.eh_frame_hdr : AT(ADDR(.eh_frame_hdr) - BASE) {
		*(.eh_frame_hdr)
	} :text :eh_frame_hdr
	.eh_frame : AT(ADDR(.eh_frame) - BASE) {
		__eh_frame_start = .;
		KEEP(*(.eh_frame))
		__eh_frame_end = .;
	} :text

	. = ALIGN(PAGE_SIZE);
	.data : AT(ADDR(.data) - BASE) {
		*(.data .data.*)
	} :data
	.bss : AT(ADDR(.bss) - BASE) {
		*(.bss)
	} :data
	/* memory.c needs the window right below the large pages. */
	.stacks (NOLOAD) : AT(ADDR(.stacks) - BASE) {
		*(.bss.window)
		*(.bss.large)
	} :stacks

	/DISCARD/ : {
		*(.comment .note.GNU-stack .note.gnu.property)
	}
}

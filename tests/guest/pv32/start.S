/* The entry points in 32-bit code, and Xen's ELF notes. See ../x86/start.S. */
#include <xen/elfnote.h>
#include "cpu.h"

.macro func name
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
.endm

	.text

/* esi: the start_info's virtual address (xen/include/public/xen.h). */
func _start
	cld
	movl	$boot_stack + PAGE_SIZE, %esp
	xorl	%ebp, %ebp
	pushl	$1
	pushl	%esi
	call	guest_setup
	movl	%eax, %esp
	/* A frame record of zeros, as in ../x86/start.S. */
	pushl	$0
	pushl	$0
	xorl	%ebp, %ebp
	call	guest_main
	ud2
	.size	_start, . - _start

/* The outermost frame of the other vCPUs. At their start, esp is their stack's top, and edi
 * their number. */
func secondary_start
	cld
	pushl	$0
	pushl	$0
	xorl	%ebp, %ebp
	pushl	%edi
	call	secondary_main
	ud2
	.size	secondary_start, . - secondary_start

/* A page that Xen fills with one stub of 32 bytes per hypercall. */
	.balign	PAGE_SIZE
	.globl	hypercall_page
	.type	hypercall_page, @function
hypercall_page:
	.skip	PAGE_SIZE, 0xcc
	.size	hypercall_page, PAGE_SIZE

	.bss
	.balign	16
	.type	boot_stack, @object
boot_stack:
	.skip	PAGE_SIZE
	.size	boot_stack, PAGE_SIZE

/* xen/include/public/elfnote.h: what each note means and which notes are numbers. */
.macro note type, value:vararg
	.pushsection .note.Xen, "a", @note
	.balign	4
	.long	4, 2f - 1f, \type
	.asciz	"Xen"
1:	\value
2:	.balign	4
	.popsection
.endm

	note XEN_ELFNOTE_GUEST_OS, .asciz "uniprof-test-guest"
	note XEN_ELFNOTE_XEN_VERSION, .asciz "xen-3.0"
	note XEN_ELFNOTE_LOADER, .asciz "generic"
	note XEN_ELFNOTE_PAE_MODE, .asciz "yes"
	note XEN_ELFNOTE_VIRT_BASE, .long BASE
	note XEN_ELFNOTE_PADDR_OFFSET, .long 0
	note XEN_ELFNOTE_ENTRY, .long _start
	note XEN_ELFNOTE_HYPERCALL_PAGE, .long hypercall_page

	.section .note.GNU-stack, "", @progbits

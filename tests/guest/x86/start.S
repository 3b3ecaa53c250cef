/*
 * Entry points, boot page tables, Xen's ELF notes.
 *
 * One image boots each way: a PV guest starts at start_pv with Xen's page tables, a PVH
 * guest at start_pvh in 32-bit mode without paging, and so does an HVM guest with the
 * image as its firmware, in place of hvmloader. All continue at _start, which is the
 * outermost frame of vCPU 0.
 */
#include <xen/elfnote.h>
#include "cpu.h"

/* Intel SDM vol. 3A, 2.5 (control registers) and 2.2.1 (EFER). */
#define CR0_PE   0x00000001
#define CR0_WP   0x00010000
#define CR0_PG   0x80000000
#define CR4_PAE  0x20
#define EFER_LME 0x100
#define MSR_EFER 0xc0000080

#define PHYS(symbol) (symbol - BASE)

.macro func name, cfi=1
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
	.if	\cfi
	.cfi_startproc
	.cfi_undefined rip	/* nothing in this file has a caller */
	.endif
.endm

.macro endfunc name, cfi=1
	.if	\cfi
	.cfi_endproc
	.endif
	.size	\name, . - \name
.endm

#ifdef NO_FRAME_POINTER
	.cfi_sections .eh_frame
#else
	.cfi_sections .debug_frame
#endif

	.text

/* PV: rsi is the start_info's virtual address (xen/include/public/xen.h). */
func start_pv
	movq	%rsi, %rdi
	movl	$1, %esi
	jmp	_start
endfunc start_pv

/* rdi: start_info or hvm_start_info; esi: whether this is PV. */
func _start
	cld
	leaq	boot_stack + PAGE_SIZE(%rip), %rsp
	xorl	%ebp, %ebp
	call	guest_setup
	movq	%rax, %rsp
	/*
	 * The frame saved by guest_main is the last one: frame pointer 0, as required by
	 * the System V ABI (AMD64 supplement, 3.4.1). The two zeros above it are a frame
	 * record of zeros for unwinders that look further.
	 */
	pushq	$0
	pushq	$0
	xorl	%ebp, %ebp
	call	guest_main
	ud2
endfunc _start

/* The outermost frame of the other vCPUs. At their start, rsp is their stack's top, and rdi
 * their number. */
func secondary_start
	cld
	pushq	$0
	pushq	$0
	xorl	%ebp, %ebp
	call	secondary_main
	ud2
endfunc secondary_start

/*
 * PVH and HVM: 32-bit flat protected mode, paging off, ebx is the hvm_start_info's physical
 * address (xen/include/public/arch-x86/hvm/start_info.h; docs/misc/pvh.pandoc). It has no
 * CFI, whose 64-bit register numbers would be wrong here.
 */
	.code32
func start_pvh, cfi=0
	cli
	movl	%cr4, %eax
	orl	$CR4_PAE, %eax
	movl	%eax, %cr4
	movl	$PHYS(boot_l4), %eax
	movl	%eax, %cr3
	movl	$MSR_EFER, %ecx
	rdmsr
	orl	$EFER_LME, %eax
	wrmsr
	movl	$(CR0_PG + CR0_WP + CR0_PE), %eax
	movl	%eax, %cr0
	lgdt	gdt_pointer_low - BASE
	ljmp	$8, $PHYS(start_pvh_long)
endfunc start_pvh, cfi=0

	.code64
func start_pvh_long
	movq	$start_pvh_high, %rax
	jmp	*%rax
endfunc start_pvh_long

func start_pvh_high
	lgdt	gdt_pointer(%rip)
	movl	$16, %eax
	movl	%eax, %ss
	movl	%eax, %ds
	movl	%eax, %es
	movl	%ebx, %edi
	xorl	%esi, %esi
	jmp	_start
endfunc start_pvh_high

/* A page that Xen fills with one stub of 32 bytes per hypercall. */
	.balign	PAGE_SIZE
	.globl	hypercall_page
	.type	hypercall_page, @function
hypercall_page:
	.skip	PAGE_SIZE, 0xcc
	.size	hypercall_page, PAGE_SIZE

	.data

	.balign	8
	.type	gdt, @object
gdt:
	.quad	0
	.quad	0x00af9b000000ffff	/* code: 64-bit, present, ring 0 */
	.quad	0x00cf93000000ffff	/* data: present, ring 0, writable */
	.size	gdt, . - gdt

	.balign	8
	.type	gdt_pointer_low, @object
gdt_pointer_low:
	.word	gdt_pointer_low - gdt - 1
	.long	PHYS(gdt)
	.size	gdt_pointer_low, . - gdt_pointer_low

	.balign	8
	.type	gdt_pointer, @object
gdt_pointer:
	.word	gdt_pointer_low - gdt - 1
	.quad	gdt
	.size	gdt_pointer, . - gdt_pointer

/*
 * PVH's first page tables: the first GiB by 2M pages, both at BASE and, until
 * memory_init() drops that mapping, at 0. BASE is entry 511 of the top table and 510 of
 * the next.
 */
.macro table name
	.balign	PAGE_SIZE
	.globl	\name
	.type	\name, @object
	.size	\name, PAGE_SIZE
\name:
.endm

table boot_l4
	.quad	PHYS(boot_l3) + PTE_PRESENT + PTE_WRITE
	.skip	510 * 8
	.quad	PHYS(boot_l3) + PTE_PRESENT + PTE_WRITE

table boot_l3
	.quad	PHYS(boot_l2) + PTE_PRESENT + PTE_WRITE
	.skip	509 * 8
	.quad	PHYS(boot_l2) + PTE_PRESENT + PTE_WRITE
	.skip	8

table boot_l2
	.set	.Li, 0
	.rept	512
	.quad	.Li * LARGE_SIZE + PTE_PRESENT + PTE_WRITE + PTE_LARGE
	.set	.Li, .Li + 1
	.endr

	.bss
	.balign	16
	.type	boot_stack, @object
boot_stack:
	.skip	PAGE_SIZE
	.size	boot_stack, PAGE_SIZE

/* xen/include/public/elfnote.h: what each note means and which notes are numbers. */
.macro note_string type, value
	.pushsection .note.Xen, "a", @note
	.balign	4
	.long	4, 2f - 1f, \type
	.asciz	"Xen"
1:	.asciz	"\value"
2:	.balign	4
	.popsection
.endm

.macro note_number type, value
	.pushsection .note.Xen, "a", @note
	.balign	4
	.long	4, 8, \type
	.asciz	"Xen"
	.quad	\value
	.popsection
.endm

	note_string XEN_ELFNOTE_GUEST_OS, "uniprof-test-guest"
	note_string XEN_ELFNOTE_XEN_VERSION, "xen-3.0"
	note_string XEN_ELFNOTE_LOADER, "generic"
	note_number XEN_ELFNOTE_VIRT_BASE, BASE
	note_number XEN_ELFNOTE_PADDR_OFFSET, 0
	note_number XEN_ELFNOTE_ENTRY, start_pv
	note_number XEN_ELFNOTE_HYPERCALL_PAGE, hypercall_page
	note_number XEN_ELFNOTE_PHYS32_ENTRY, PHYS(start_pvh)

	.section .note.GNU-stack, "", @progbits

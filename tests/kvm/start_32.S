/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entries of the guest in 32-bit code, as in start.S. PAGING selects how its addresses
 * are translated: 0 not at all, 2 by two levels, 3 by three (PAE), 4 by four, as for 32-bit
 * programs of a 64-bit kernel (EFER.LMA is 1, CS.L is 0).
 *
 * With tables, text and data are at their physical addresses plus 1 GiB, on pages of 4M or
 * 2M; the stacks are at 3 GiB, on 4K pages in reverse physical order.
 */
#define PRESENT	 0x1
#define WRITE	 0x2
#define USER	 0x4
#define LARGE	 0x80
#define TABLE	 (PRESENT + WRITE + USER)
#define PAGES	 64 /* pages of stacks: 32 for each vCPU */

/* Intel SDM vol. 3A, 2.5 (control registers) and 2.2.1 (EFER). */
#define CR0_PE	 0x00000001
#define CR0_PG	 0x80000000
#define CR4_PSE	 0x10
#define CR4_PAE	 0x20
#define EFER_LME 0x100
#define MSR_EFER 0xc0000080
#define IOPL_3	 0x3002

#define CODE	   0x08
#define DATA	   0x10
#define USER_DATA  0x1b
#define USER_CODE  0x23

#if PAGING == 2
#define ENTRY	   4
#define LARGE_SIZE 0x400000
#else
#define ENTRY	   8
#define LARGE_SIZE 0x200000
#endif
#if PAGING == 3
#define UPPER PRESENT /* SDM, table 4-8: the other bits are reserved */
#else
#define UPPER TABLE
#endif
#if PAGING
#define STACKS 0xc0000000
#else
#define STACKS stack_pages
#endif

	.section .note.Xen, "a", @note
	.balign	4
	.long	4, 4, 18 /* XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz	"Xen"
	.long	start_pvh

	.section .text.start, "ax"
	.code32
	.globl	start_vmm
start_pvh:
	xorl	%edi, %edi
start_vmm:
	cli
	cld
	lgdt	gdt_pointer
#if PAGING
	/* The first GiB. */
	movl	$TABLE + LARGE, %eax
	xorl	%ecx, %ecx
1:	movl	%eax, low(, %ecx, ENTRY)
#if PAGING == 2
	movl	%eax, low + 0x400(, %ecx, ENTRY) /* and again at 1 GiB */
#endif
	addl	$LARGE_SIZE, %eax
	incl	%ecx
	cmpl	$0x40000000 / LARGE_SIZE, %ecx
	jne	1b
#if PAGING == 2
	movl	$stacks_1 + TABLE, low + 0xc00
	movl	$low, %eax
#else
	movl	$low + UPPER, middle
	movl	$low + UPPER, middle + 8
	movl	$stacks_2 + UPPER, middle + 24
	movl	$stacks_1 + TABLE, stacks_2
	movl	$middle, %eax
#endif
#if PAGING == 4
	movl	$middle + TABLE, top
	movl	$top, %eax
#endif
	movl	%eax, %cr3

	/* Page i is the frame PAGES - 1 - i. */
	movl	$stack_pages + (PAGES - 1) * 4096 + TABLE, %eax
	xorl	%ecx, %ecx
1:	movl	%eax, stacks_1(, %ecx, ENTRY)
	subl	$4096, %eax
	incl	%ecx
	cmpl	$PAGES, %ecx
	jne	1b

	movl	%cr4, %eax
#if PAGING == 2
	orl	$CR4_PSE, %eax
#else
	orl	$CR4_PAE, %eax
#endif
	movl	%eax, %cr4
#if PAGING == 4
	movl	$MSR_EFER, %ecx
	rdmsr
	orl	$EFER_LME, %eax
	wrmsr
#endif
	movl	%cr0, %eax
	orl	$CR0_PG + CR0_PE, %eax
	movl	%eax, %cr0
#endif
	ljmp	$CODE, $1f
1:	movl	$DATA, %eax
	movl	%eax, %ss
	leal	1(%edi), %eax
	shll	$17, %eax
	addl	$STACKS, %eax
	movl	%eax, %esp
	pushl	$USER_DATA
	pushl	%eax
	pushl	$IOPL_3
	pushl	$USER_CODE
	pushl	$_start
	movl	$USER_DATA, %eax
	movl	%eax, %ds
	movl	%eax, %es
	iretl

	.text
	.globl	_start
	.type	_start, @function
/* The outermost frame; the frame pointer that guest_main saves is 0. */
_start:
	pushl	$0
	pushl	$0
	xorl	%ebp, %ebp
	pushl	$0
	pushl	%edi
	call	guest_main
1:	jmp	1b
	.size	_start, . - _start

	.section .data.start, "aw"
	.balign	8
gdt:
	.quad	0
	.quad	0x00cf9b000000ffff	/* code: 32-bit, present, ring 0 */
	.quad	0x00cf93000000ffff	/* data: present, ring 0, writable */
	.quad	0x00cff3000000ffff	/* data, ring 3 */
	.quad	0x00cffb000000ffff	/* code: 32-bit, ring 3 */
gdt_pointer:
	.word	gdt_pointer - gdt - 1
	.long	gdt

	.section .bss.start, "aw", @nobits
	.balign	4096
low:		.skip	4096
#if PAGING > 2
#if PAGING == 3
	.skip	0xfa0	/* the table of 32 bytes may be anywhere below 4 GiB */
middle:		.skip	32
	.balign	4096
#else
middle:		.skip	4096
top:		.skip	4096
#endif
stacks_2:	.skip	4096
#endif
stacks_1:	.skip	4096
stack_pages:	.skip	PAGES * 4096

	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry of tests/kvm/guest.c as an arm64 guest of QEMU's machine virt, at EL1 with the
 * MMU off. Text and data are at their physical addresses plus 0xffff000000000000, in a
 * block of 1 GiB of the upper half; the stack is at 64 TiB, on 4K pages in reverse physical
 * order. Descriptors and registers: Arm ARM (DDI 0487), chapters D8 and D17.
 */
#define TABLE	0x3
#define BLOCK	0x1
#define PAGE	0x3
#define AF	0x400 /* accessed */
#define NORMAL	(0 << 2) /* the attributes' number in MAIR_EL1 */
#define DEVICE	(1 << 2)

#define RAM	0x40000000
#define STACK	0x400000000000
#define PAGES	16

/* T0SZ and T1SZ of 16, granules of 4 KiB, physical addresses of 40 bits, no caches. */
#define TCR	(16 | 16 << 16 | 2 << 30 | 2 << 32)
#define MAIR	0x0044 /* normal, not cacheable; device */

	.section .text.start, "ax"
	.globl	start
start:
	adrp	x1, top
	adrp	x2, upper
	adrp	x3, low
	adrp	x4, stack_3
	adrp	x5, stack_2
	adrp	x6, stack_1

	/* Lower half: the first two GiB at their addresses, and the stack. */
	orr	x0, x3, #TABLE
	str	x0, [x1]
	mov	x0, #(DEVICE + AF + BLOCK)
	str	x0, [x3]
	ldr	x0, =RAM + AF + BLOCK
	str	x0, [x3, #8]
	orr	x0, x4, #TABLE
	str	x0, [x1, #(STACK >> 39) * 8]
	orr	x0, x5, #TABLE
	str	x0, [x4]
	orr	x0, x6, #TABLE
	str	x0, [x5]
	adrp	x7, stack
	add	x7, x7, #PAGES << 12
	mov	x8, #PAGES
1:	sub	x7, x7, #0x1000
	mov	x0, #(AF + PAGE)
	orr	x0, x7, x0
	str	x0, [x6], #8
	subs	x8, x8, #1
	b.ne	1b

	/* Upper half: the first two GiB again. */
	orr	x0, x3, #TABLE
	str	x0, [x2]

	msr	ttbr0_el1, x1
	msr	ttbr1_el1, x2
	ldr	x0, =TCR
	msr	tcr_el1, x0
	mov	x0, #MAIR
	msr	mair_el1, x0
	isb
	mrs	x0, sctlr_el1
	orr	x0, x0, #1
	msr	sctlr_el1, x0
	isb

	/* A page of the stack for each vCPU. */
	mrs	x1, mpidr_el1
	and	x1, x1, #0xff
	ldr	x0, =STACK + (PAGES << 12)
	sub	x0, x0, x1, lsl #12
	mov	sp, x0
	ldr	x0, =_start
	br	x0
	.ltorg

	.text
	.globl	_start
	.type	_start, %function
/* The outermost frame; the frame pointer that guest_main saves is 0. All vCPUs but the
 * first two halt. */
_start:
	mov	x29, xzr
	mov	x30, xzr
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	mrs	x0, mpidr_el1
	and	x0, x0, #0xff
	cmp	x0, #2
	b.hs	1f
	bl	guest_main
1:	wfi
	b	1b
	.size	_start, . - _start

	.section .bss.start, "aw", %nobits
	.balign	4096
top:		.skip	4096
upper:		.skip	4096
low:		.skip	4096
stack_3:	.skip	4096
stack_2:	.skip	4096
stack_1:	.skip	4096
stack:		.skip	PAGES * 4096

	.section .note.GNU-stack, "", %progbits

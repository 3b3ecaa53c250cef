/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry of guest.c as a program, at EL0, in the lower half of addresses. GRANULE: 12, 14
 * or 16, the bits of an address in a page. The program is 4 GiB above its physical addresses,
 * in a block, and its stack at 8 GiB, on pages in reverse physical order. Descriptors and
 * registers: Arm ARM (DDI 0487), chapters D8 and D17.
 */
#define TABLE	0x3
#define BLOCK	0x1
#define PAGE	0x3
#define AF	0x400 /* accessed */
#define USER	0x40  /* EL0 may read and write; EL1 then can't execute */
#define DEVICE	(1 << 2) /* the attributes' number in MAIR_EL1 */
#define MAIR	0x0044 /* normal, not cacheable; device */

#define UART	0x09000000
#define RAM	0x40000000
#define PROGRAM	(0x100000000 + RAM)
#define STACK	0x200000000
#define PAGES	4

/* The size of a page as TCR_EL1 has it, that of the lower half, which one table covers, and the
 * bits of an address in one of its blocks. */
#if GRANULE == 12
#define TG0	0
#define BITS	39
#define SHIFT	30
#elif GRANULE == 14
#define TG0	2
#define BITS	36
#define SHIFT	25
#else
#define TG0	1
#define BITS	42
#define SHIFT	29
#endif

/* No upper half, physical addresses of 40 bits. */
#define TCR	((64 - BITS) | TG0 << 14 | 1 << 23 | 2 << 32)

	.section .text.start, "ax"
/* Stores a block of @address into the table in x1. */
	.macro	map address, physical, bits
	ldr	x0, =((\physical >> SHIFT) << SHIFT) + AF + BLOCK + \bits
	str	x0, [x1, x3]
	.endm

/* Sets x3 to the place of @address in the table. */
	.macro	place address
	ldr	x3, =(\address >> SHIFT) * 8
	.endm

	.globl	start
start:
	adrp	x1, top
	place	UART
	map	UART, UART, DEVICE + USER
	place	RAM
	map	RAM, RAM, 0
	place	PROGRAM
	map	PROGRAM, RAM, USER

	adrp	x5, pages
	place	STACK
	orr	x0, x5, #TABLE
#if GRANULE == 12
	adrp	x4, middle
	str	x0, [x4]
	orr	x0, x4, #TABLE
#endif
	str	x0, [x1, x3]
	adrp	x7, stack
	mov	x8, #PAGES
1:	sub	x8, x8, #1
	mov	x0, #(AF + USER + PAGE)
	add	x0, x0, x8, lsl #GRANULE
	add	x0, x0, x7
	str	x0, [x5], #8
	cbnz	x8, 1b

	msr	ttbr0_el1, x1
	ldr	x0, =TCR
	msr	tcr_el1, x0
	mov	x0, #MAIR
	msr	mair_el1, x0
	isb
	mrs	x0, sctlr_el1
	orr	x0, x0, #1
	msr	sctlr_el1, x0
	isb

	/* The chains lie across two pages. */
	ldr	x0, =STACK + (1 << GRANULE) + 128
	msr	sp_el0, x0
	ldr	x0, =_start
	msr	elr_el1, x0
	msr	spsr_el1, xzr
	eret
	.ltorg

	.text
	.globl	_start
	.type	_start, %function
_start:
	mov	x29, xzr
	mov	x30, xzr
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	mov	x0, #0
	bl	guest_main
1:	b	1b
	.size	_start, . - _start

	.section .bss.start, "aw", %nobits
	.balign	1 << 16
top:	.skip	1 << 16
middle:	.skip	1 << 16
pages:	.skip	1 << 16
stack:	.skip	PAGES << GRANULE
	.section .note.GNU-stack, "", %progbits

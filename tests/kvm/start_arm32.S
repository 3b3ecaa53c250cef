/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry of guest.c as a 32-bit arm guest, in supervisor mode with the MMU off. All
 * addresses are physical ones, by short descriptors of sections, but the stack is at 2 GiB.
 * Descriptors and registers: Arm ARM (DDI 0487), chapters G5 and G8.
 */
#define SECTION 0x402 /* for privileged code, strongly ordered */
#define STACK	0x80000000
#define MEMORY	0x40100000 /* of the stack */

	.arm
	.text
	.globl	start
start:
	ldr	r0, =table
	mov	r1, #0
1:	ldr	r2, =SECTION
	orr	r2, r2, r1, lsl #20
	str	r2, [r0, r1, lsl #2]
	add	r1, r1, #1
	cmp	r1, #4096
	bne	1b
	ldr	r2, =MEMORY + SECTION
	mov	r1, #STACK >> 20
	str	r2, [r0, r1, lsl #2]
	mcr	p15, 0, r0, c2, c0, 0	/* TTBR0 */
	mov	r1, #0
	mcr	p15, 0, r1, c2, c0, 2	/* TTBCR */
	mov	r1, #3
	mcr	p15, 0, r1, c3, c0, 0	/* DACR: no permissions are checked */
	mcr	p15, 0, r1, c8, c7, 0	/* TLBIALL */
	dsb
	isb
	mrc	p15, 0, r1, c1, c0, 0	/* SCTLR */
	orr	r1, r1, #1
	mcr	p15, 0, r1, c1, c0, 0
	isb
	ldr	sp, =STACK + 0x10000
	b	_start
	.ltorg

	.globl	_start
	.type	_start, %function
/* The outermost frame, as GCC makes them. */
_start:
	mov	fp, #0
	mov	lr, #0
	push	{fp, lr}
	add	fp, sp, #4
	mov	r0, #0
	mov	r1, #0
	bl	guest_main
1:	b	1b
	.size	_start, . - _start

	.bss
	.balign	16384
table:	.skip	16384
	.section .note.GNU-stack, "", %progbits

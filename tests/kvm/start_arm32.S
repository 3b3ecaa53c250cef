/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry of guest.c as a 32-bit arm guest, in supervisor mode with the MMU off. All
 * addresses are physical ones, by short descriptors of sections, or, with LPAE, by long
 * descriptors of blocks, but the stack is at 2 GiB. Descriptors and registers: Arm ARM
 * (DDI 0487), chapters G5 and G8.
 */
#define SECTION 0x402 /* for privileged code, strongly ordered */
#define BLOCK	0x401 /* as above, by MAIR0, which is 0 */
#define STACK	0x80000000
#define MEMORY	0x40100000 /* of the stack */
#ifdef LPAE
#define TOP	(STACK + 0x110000)
#else
#define TOP	(STACK + 0x10000)
#endif

	.arm
	.text
	.globl	start
start:
	ldr	r0, =table
	mov	r1, #0
#ifdef LPAE
	mcr	p15, 0, r1, c10, c2, 0	/* MAIR0 */
	mov	r3, #0
	ldr	r2, =BLOCK
	strd	r2, r3, [r0]
	ldr	r2, =(MEMORY & 0xc0000000) + BLOCK
	strd	r2, r3, [r0, #8]
	strd	r2, r3, [r0, #(STACK >> 30) * 8]
	mcrr	p15, 0, r0, r1, c2	/* TTBR0 */
	mov	r1, #1 << 31		/* EAE */
#else
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
#endif
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
	ldr	sp, =TOP
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

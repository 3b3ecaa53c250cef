/* SPDX-License-Identifier: BSD-3-Clause */
/* A guest for arm64 that halts, and prints a line whenever it is woken; with PRINTS, it does
 * nothing but print. */
#ifdef PRINTS
#define halt print
#define wfi
#endif

	.section .text.start, "ax"
	.globl	start
start:
	ldr	x0, =stack_end
	mov	sp, x0
	mov	x29, xzr
	mov	x30, xzr
	b	_start
	.ltorg

	.globl	_start
	.type	_start, %function
_start:
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	bl	halt
1:	b	1b
	.size	_start, . - _start

	.type	halt, %function
halt:
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	mov	x1, #0x9000000
	mov	w0, #'h'
	str	w0, [x1]
	mov	w0, #'\n'
	str	w0, [x1]
1:	wfi
	mov	w0, #'w'
	str	w0, [x1]
	mov	w0, #'\n'
	str	w0, [x1]
	b	1b
	.size	halt, . - halt

	.section .bss.start, "aw", %nobits
	.balign	4096
	.skip	4096
stack_end:
	.section .note.GNU-stack, "", %progbits

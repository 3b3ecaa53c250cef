/*
 * void hostile_KIND(unsigned long frame, uint64_t end, volatile pte_t *entry,
 *		     const pte_t *values, unsigned long mask)
 *
 * Until the counter is at `end`, runs with `frame` in the frame and the stack pointer, and
 * stores values[0 to mask] to *entry, one after the other.
 *
 * No interrupt is ever taken, so nothing but the unwinder uses these pointers.
 */
#include "kinds.h"

	.text

.macro spin name
	.globl	\name
	.type	\name, %function
	.balign	64
\name:
	stp	x29, x30, [sp, #-16]!
	mov	x9, sp
	mov	x10, xzr
	mov	x29, x0
	mov	sp, x0
1:	ldr	x11, [x3, x10, lsl #3]
	str	x11, [x2]
	add	x10, x10, #1
	and	x10, x10, x4
	isb
	mrs	x11, cntvct_el0
	cmp	x11, x1
	b.lo	1b
	mov	sp, x9
	ldp	x29, x30, [sp], #16
	ret
	.size	\name, . - \name
.endm

#define SPIN(kind) spin hostile_##kind ;
HOSTILE_KINDS(SPIN)

	.section .note.GNU-stack, "", %progbits

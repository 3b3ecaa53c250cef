/*
 * void hostile_KIND(unsigned long frame, uint64_t end, volatile pte_t *entry,
 *		     const pte_t *values, unsigned long mask)
 *
 * Until the counter is at `end`, runs with `frame` in the frame pointers of ARM and Thumb
 * code and in the stack pointer, and stores values[0 to mask] to *entry, one after
 * the other.
 *
 * No interrupt is ever taken, so nothing but the unwinder uses these pointers.
 */
#include "cpu.h"
#include "kinds.h"

	.syntax unified
#ifdef __thumb__
	.thumb
#else
	.arm
#endif
	.text

.macro spin name
	.globl	\name
	.type	\name, %function
	.balign	128
\name:
	push	{r4, r5, r6, r7, r8, r9, r10, fp, ip, lr}
	add	fp, sp, #36
	ldr	r4, [sp, #40]
	ldr	r5, [sp, #44]
	ldr	r6, [sp, #48]
	mov	ip, sp
	mov	r1, #0
	mov	r7, r0
	mov	fp, r0
	mov	sp, r0
1:
#ifdef LONG_TABLES
	add	r10, r5, r1, lsl #3
	ldrd	r8, r9, [r10]
	strd	r8, r9, [r4]
#else
	ldr	r8, [r5, r1, lsl #2]
	str	r8, [r4]
#endif
	add	r1, r1, #1
	and	r1, r1, r6
	isb
	mrrc	p15, 1, r8, r9, c14
	cmp	r8, r2
	sbcs	r8, r9, r3
	blo	1b
	mov	sp, ip
	pop	{r4, r5, r6, r7, r8, r9, r10, fp, ip, pc}
	.size	\name, . - \name
.endm

#define SPIN(kind) spin hostile_##kind ;
HOSTILE_KINDS(SPIN)

	.section .note.GNU-stack, "", %progbits

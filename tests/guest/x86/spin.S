/*
 * void hostile_KIND(uint64_t frame, uint64_t end, volatile uint64_t *entry,
 *		     const uint64_t *values, uint64_t mask)
 *
 * Until the TSC is at `end`, runs with `frame` in the frame and the stack pointer, and
 * stores values[0 to mask] to *entry, one after the other. The second jump at its end is
 * never taken, but looks like an exit of a function without a frame: an unwinder then reads
 * the top of the stack, too. hostile_modes also turns CR4.PSE on and off, which has no
 * effect in long mode.
 *
 * No interrupt is ever taken, so nothing but the unwinder uses these pointers.
 */
#include "kinds.h"

	.text

#define CR4_PSE 0x10

.macro spin name
	.globl	\name
	.type	\name, @function
	.balign	64
\name:
	pushq	%rbp
	pushq	%rbx
	movq	%rsp, %r9
	movq	%rdx, %r10
	xorl	%ebx, %ebx
	movq	%rdi, %rbp
	movq	%rdi, %rsp
1:	movq	(%rcx, %rbx, 8), %rax
	movq	%rax, (%r10)
	incq	%rbx
	andq	%r8, %rbx
	.ifc	\name, hostile_modes
	movq	%cr4, %rax
	xorq	$CR4_PSE, %rax
	movq	%rax, %cr4
	.endif
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	cmpq	%rsi, %rax
	jb	1b
	jb	2f
	movq	%r9, %rsp
	popq	%rbx
	popq	%rbp
2:	ret
	.size	\name, . - \name
.endm

#define SPIN(kind) spin hostile_##kind ;
HOSTILE_KINDS(SPIN)

	.section .note.GNU-stack, "", @progbits

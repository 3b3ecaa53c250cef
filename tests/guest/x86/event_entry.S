/*
 * Where Xen enters a PV guest for its events. Xen has pushed rcx and r11 below what the CPU
 * saves, and HYPERVISOR_iret takes a word of flags there (xen/include/public/arch-x86/
 * xen-x86_64.h). The handler runs in turn on the interrupted stack and on a stack of its own.
 */
#define __ASSEMBLY__ /* for Xen's header */
#include <xen/xen.h>
#include "cpu.h"

.macro push_all
	.irp	reg, rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
	pushq	%\reg
	.endr
.endm

.macro pop_all
	.irp	reg, r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax
	popq	%\reg
	.endr
.endm

	.text
	.globl	entry_event
	.type	entry_event, @function
	.balign	16
entry_event:
	popq	%rcx
	popq	%r11
	push_all
	cld
	movq	%rsp, %rax
	notb	own_stack(%rip)
	cmpb	$0, own_stack(%rip)
	je	1f
	leaq	stack_end(%rip), %rsp
1:	pushq	%rax
	call	on_event
	popq	%rsp
	pop_all
	pushq	$0
	jmp	hypercall_page + __HYPERVISOR_iret * 32
	.size	entry_event, . - entry_event

	.bss
own_stack:
	.skip	1
	.balign	16
	.skip	4 * PAGE_SIZE
stack_end:

	.section .note.GNU-stack, "", @progbits

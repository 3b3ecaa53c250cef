/*
 * Entries of interrupts, as kernels have them: without frames, and with handlers on the
 * interrupted stack or, by the CPU or by the entry, on another stack.
 */
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

.macro entry name, to=, back=
	.globl	entry_\name
	.type	entry_\name, @function
entry_\name:
	cld
	pushq	$0	/* as an error code */
	push_all
	\to
	call	on_\name
	\back
	jmp	leave_interrupt
	.size	entry_\name, . - entry_\name
.endm

.macro to_handler_stack
	movq	%rsp, %rax
	movabsq	$handler_stack_end, %rsp
	pushq	%rax
.endm

.macro to_handler_stack_by_rbp
	movq	%rsp, %rbp
	movabsq	$handler_stack_end, %rsp
.endm

	.text
	entry	same
	entry	lower
	entry	higher
	entry	switched, to_handler_stack, "popq %rsp"
	entry	kept, to_handler_stack_by_rbp, "movq %rbp, %rsp"

	.type	leave_interrupt, @function
leave_interrupt:
	pop_all
	addq	$8, %rsp
	iretq
	.size	leave_interrupt, . - leave_interrupt

	.section .note.GNU-stack, "", @progbits

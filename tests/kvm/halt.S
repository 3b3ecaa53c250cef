/*
 * A guest that prints a line and halts for good, in 32-bit protected mode without paging:
 * for vmm --parked, whose KVM has interrupt controllers, so that a halted vCPU waits in the
 * kernel.
 */
	.section .text.start, "ax"
	.code32
	.globl	start_vmm
start_vmm:
	movl	$0x3f8, %edx
	movl	$line, %esi
1:	movb	(%esi), %al
	outb	%al, %dx
	incl	%esi
	cmpb	$'\n', %al
	jne	1b
	movl	$stack, %esp
	pushl	$0
	xorl	%ebp, %ebp
	call	idle

	.type	idle, @function
idle:	pushl	%ebp
	movl	%esp, %ebp
1:	hlt
	jmp	1b
	.size	idle, . - idle

line:	.ascii	"first\n"
	.balign	4
	.skip	64
stack:

	.section .note.GNU-stack, "", @progbits

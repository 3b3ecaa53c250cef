/*
 * A guest that prints a line and halts for good, in 32-bit protected mode without paging:
 * for vmm --parked, whose KVM has interrupt controllers, so that a halted vCPU waits in the
 * kernel. It starts the other vCPUs, which halt, too. Each prints a line when it is woken.
 */
#define TRAMPOLINE 0x8000
#define ICR	   0xfee00300 /* of the local APIC: commands to other CPUs */

	.section .text.start, "ax"
	.code32
	.globl	start_vmm
start_vmm:
	movl	$(stacks + 64), %esp
	movl	$first, %esi
	call	print
	movl	$.Ltrampoline, %esi
	movl	$TRAMPOLINE, %edi
	movl	$(.Ltrampoline_end - .Ltrampoline), %ecx
	rep movsb
	/* To all others: INIT, and then the page where to start. */
	movl	$0xc4500, ICR
	movl	$(0xc4600 | TRAMPOLINE >> 12), ICR
.Lstarted:
	movl	$64, %eax
	lock xaddl %eax, next_stack
	movl	%eax, %esp
	pushl	$0
	xorl	%ebp, %ebp
	call	idle

	.type	idle, @function
idle:	pushl	%ebp
	movl	%esp, %ebp
1:	hlt
	movl	$woken, %esi
	call	print
	jmp	1b
	.size	idle, . - idle

/* Prints the line at ESI. */
	.type	print, @function
print:	movl	$0x3f8, %edx
1:	lodsb
	outb	%al, %dx
	cmpb	$'\n', %al
	jne	1b
	ret
	.size	print, . - print

/* The other vCPUs start here, in real mode, and change to protected mode. */
	.code16
.Ltrampoline:
	cs lgdtl .Lsegments_at - .Ltrampoline
	movl	%cr0, %eax
	orb	$1, %al
	movl	%eax, %cr0
	ljmpl	$8, $.Lchange
	.balign	8
.Lsegments:
	.quad	0, 0xcf9b000000ffff, 0xcf93000000ffff
.Lsegments_at:
	.word	. - .Lsegments - 1
	.long	TRAMPOLINE + .Lsegments - .Ltrampoline
.Ltrampoline_end:

	.code32
.Lchange:
	movl	$16, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	jmp	.Lstarted

first:	.ascii	"first\n"
woken:	.ascii	"woken\n"
	.balign	4
next_stack:
	.long	stacks + 128
stacks:
	.skip	64 * 64

	.section .note.GNU-stack, "", @progbits

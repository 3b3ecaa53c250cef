/*
 * The guest's entries, both in 32-bit protected mode without paging: start_vmm from vmm.c,
 * with the vCPU's number in edi and the frame of the memory for its stacks in edx (0: that
 * in the image); start_pvh from QEMU (docs/misc/pvh.pandoc of Xen), for one vCPU. If QEMU's
 * -append starts with h (high), the stacks are at 4 GiB, and with d (decoy), there is also
 * data at 2 GiB, which a wrong layout of the memory has at 4 GiB.
 *
 * The work is done in user mode in the lower half of the addresses, because some variants
 * of KVM run only user mode natively. Text and data are at their physical addresses plus 1 GiB,
 * on 2M pages; the stacks are at 64 TiB, on 4K pages in reverse physical order. With LA57, page
 * tables have five levels, and the stacks' address needs all of them. With INTERRUPTS, the work
 * is done in kernel mode (tests/gdb/interrupts.c).
 */
#define PRESENT	 0x1
#define WRITE	 0x2
#define USER	 0x4
#define LARGE	 0x80
#define TABLE	 (PRESENT + WRITE + USER)
#define TABLES	 0x400000000000 /* the stacks' address below the fifth level */
#ifdef LA57
#define STACKS	 (8 * 0x1000000000000 + TABLES)
#else
#define STACKS	 TABLES
#endif
#define PAGES	 512 /* pages of stacks: 8 for each vCPU */

/* Intel SDM vol. 3A, 2.5 (control registers) and 2.2.1 (EFER). */
#define CR0_PE	 0x00000001
#define CR0_PG	 0x80000000
#define CR4_PAE	 0x20
#define CR4_LA57 0x1000
#define EFER_LME 0x100
#define MSR_EFER 0xc0000080
#define IOPL_3	 0x3002

#define CODE_64	   0x08
#define DATA	   0x10
#define USER_DATA  0x1b
#define USER_CODE  0x23

	.section .note.Xen, "a", @note
	.balign	4
	.long	4, 4, 18 /* XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz	"Xen"
	.long	start_pvh

	.section .text.start, "ax"
	.code32
	.globl	start_vmm
start_pvh:
	cli
	cld
	xorl	%edi, %edi
	xorl	%edx, %edx
	movl	24(%ebx), %esi	/* cmdline_paddr */
	testl	%esi, %esi
	jz	start_vmm
	movb	(%esi), %bl
	cmpb	$'h', %bl
	je	1f
	cmpb	$'d', %bl
	jne	start_vmm
	movl	$0x80000000, %edi
	movl	$PAGES * 1024, %ecx
	movl	$0x5a5a5a5a, %eax
	rep stosl
	xorl	%edi, %edi
1:	movl	$0x100000, %edx
start_vmm:
	cli
	cld
	movl	%edx, %esi
	testl	%esi, %esi
	jnz	1f
	movl	$stack_pages, %esi
	shrl	$12, %esi
1:	movl	$low_3 + TABLE, top
	movl	$stacks_3 + TABLE, top + TABLES / 0x8000000000 * 8
	movl	$low_2 + TABLE, low_3		/* the first GiB, */
	movl	$low_2 + TABLE, low_3 + 8	/* and again at 1 GiB */
	movl	$stacks_2 + TABLE, stacks_3
	movl	$stacks_1 + TABLE, stacks_2

	movl	$TABLE + LARGE, %eax
	xorl	%ecx, %ecx
1:	movl	%eax, low_2(, %ecx, 8)
	addl	$0x200000, %eax
	incl	%ecx
	cmpl	$512, %ecx
	jne	1b

	/* Page i is the frame esi + PAGES - 1 - i. */
	xorl	%ecx, %ecx
1:	leal	PAGES - 1(%esi), %eax
	subl	%ecx, %eax
	movl	%eax, %ebx
	shll	$12, %eax
	orl	$TABLE, %eax
	shrl	$20, %ebx
	movl	%eax, stacks_1(, %ecx, 8)
	movl	%ebx, stacks_1 + 4(, %ecx, 8)
	incl	%ecx
	cmpl	$PAGES, %ecx
	jne	1b

#ifdef LA57
	movl	$top + TABLE, top_5
	movl	$top + TABLE, top_5 + STACKS / 0x1000000000000 * 8
	movl	$top_5, %eax
#else
	movl	$top, %eax
#endif
	movl	%eax, %cr3
	movl	%cr4, %eax
#ifdef LA57
	orl	$CR4_LA57, %eax
#endif
	orl	$CR4_PAE, %eax
	movl	%eax, %cr4
	movl	$MSR_EFER, %ecx
	rdmsr
	orl	$EFER_LME, %eax
	wrmsr
	movl	%cr0, %eax
	orl	$CR0_PG + CR0_PE, %eax
	movl	%eax, %cr0
	lgdt	gdt_pointer
	ljmp	$CODE_64, $1f

	.code64
1:	movl	$DATA, %eax
	movl	%eax, %ss
	movl	%eax, %ds
	movl	%eax, %es
	leal	1(%rdi), %eax
	shlq	$15, %rax
	movabsq	$STACKS, %rsp
	addq	%rax, %rsp
#ifdef INTERRUPTS
	movabsq	$_start, %rax /* in kernel mode */
	jmp	*%rax
#endif
	movq	%rsp, %rax
	pushq	$USER_DATA
	pushq	%rax
	pushq	$IOPL_3
	pushq	$USER_CODE
	movabsq	$_start, %rax
	pushq	%rax
	iretq

	.text
	.globl	_start
	.type	_start, @function
/* The outermost frame; the frame pointer that guest_main saves is 0. */
_start:
	pushq	$0
	pushq	$0
	xorl	%ebp, %ebp
#ifdef INTERRUPTS
	call	interrupts_start
#endif
	call	guest_main
1:	jmp	1b
	.size	_start, . - _start

	.section .data.start, "aw"
	.balign	8
gdt:
	.quad	0
	.quad	0x00af9b000000ffff	/* code: 64-bit, present, ring 0 */
	.quad	0x00cf93000000ffff	/* data: present, ring 0, writable */
	.quad	0x00cff3000000ffff	/* data, ring 3 */
	.quad	0x00affb000000ffff	/* code: 64-bit, ring 3 */
gdt_pointer:
	.word	gdt_pointer - gdt - 1
	.long	gdt

	.section .bss.start, "aw", @nobits
	.balign	4096
#ifdef LA57
top_5:		.skip	4096
#endif
	.globl	top
top:		.skip	4096
	.globl	low_3
low_3:		.skip	4096
low_2:		.skip	4096
stacks_3:	.skip	4096
stacks_2:	.skip	4096
stacks_1:	.skip	4096
stack_pages:	.skip	PAGES * 4096

	.section .note.GNU-stack, "", @progbits

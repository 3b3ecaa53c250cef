/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry of tests/kvm/guest.c as a riscv64 guest of QEMU's machine virt without firmware:
 * in machine mode, from where it goes to supervisor mode with Sv48. Text and data are at
 * their physical addresses plus 0xffffffff00000000, in a page of 1 GiB; the stack is at
 * 64 TiB, on 4K pages in reverse physical order. Entries and registers: RISC-V Privileged
 * Architecture, chapters 3 and 4.
 */
#define TABLE	0x01
#define PAGE	0xcf /* valid, readable, writable, executable, accessed, dirty */

#define RAM	0x80000000
#define STACK	0x400000000000
#define PAGES	16
#define SV48	9

	.section .text.start, "ax"
	.globl	start
start:
	csrr	t0, mhartid
1:	bnez	t0, 1b

	/* Frame numbers start at bit 10 of an entry. */
	la	t0, top
	la	t1, low
	srli	t2, t1, 2
	ori	t2, t2, TABLE
	sd	t2, 0(t0)
	li	t2, PAGE /* devices, in the first GiB, at their addresses */
	sd	t2, 0(t1)

	la	t1, upper
	srli	t2, t1, 2
	ori	t2, t2, TABLE
	li	t3, 511 * 8
	add	t3, t0, t3
	sd	t2, 0(t3)
	li	t2, (RAM >> 2) | PAGE
	li	t3, 510 * 8
	add	t3, t1, t3
	sd	t2, 0(t3)

	la	t1, stack_3
	srli	t2, t1, 2
	ori	t2, t2, TABLE
	sd	t2, (STACK >> 39) * 8(t0)
	la	t3, stack_2
	srli	t2, t3, 2
	ori	t2, t2, TABLE
	sd	t2, 0(t1)
	la	t1, stack_1
	srli	t2, t1, 2
	ori	t2, t2, TABLE
	sd	t2, 0(t3)
	la	t3, stack
	li	t4, PAGES << 12
	add	t4, t3, t4
2:	li	t5, 0x1000
	sub	t4, t4, t5
	srli	t2, t4, 2
	ori	t2, t2, PAGE
	sd	t2, 0(t1)
	addi	t1, t1, 8
	bne	t4, t3, 2b

	/* All of memory is for all modes. */
	li	t1, -1
	csrw	pmpaddr0, t1
	li	t1, 0x1f
	csrw	pmpcfg0, t1

	srli	t0, t0, 12
	li	t1, SV48 << 60
	or	t0, t0, t1
	csrw	satp, t0
	sfence.vma
	li	t1, 3 << 11 /* the previous mode: supervisor */
	csrc	mstatus, t1
	li	t1, 1 << 11
	csrs	mstatus, t1
	ld	t1, entry
	csrw	mepc, t1
	li	sp, STACK + (PAGES << 12)
	mret
	.balign	8
entry:	.dword	_start

	.text
	.globl	_start
	.type	_start, %function
/* The outermost frame; the frame pointer that guest_main saves is 0. */
_start:
	li	s0, 0
	li	a0, 0
	call	guest_main
1:	j	1b
	.size	_start, . - _start

	.section .bss.start, "aw", %nobits
	.balign	4096
top:		.skip	4096
upper:		.skip	4096
low:		.skip	4096
stack_3:	.skip	4096
stack_2:	.skip	4096
stack_1:	.skip	4096
stack:		.skip	PAGES * 4096

	.section .note.GNU-stack, "", %progbits

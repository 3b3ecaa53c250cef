/*
 * Image header, entry points, page tables on. Arm ARM means DDI 0406C, for v7-A.
 *
 * A vCPU starts in supervisor mode without page tables and caches, at its guest-physical
 * address; vCPU 0 at image_start, which has the header of a zImage (Linux's
 * Documentation/arm/booting.rst).
 */
#include "cpu.h"

/* B4.1.130: instruction cache, branch prediction, data cache, page tables; and what has to
 * be 0: access flags, remapped attributes, vectors at the top, aligned accesses only. */
#define SCTLR_ON  0x00001805
#define SCTLR_OFF 0x30002002

	.syntax unified
	.arm

.macro func name
	.globl	\name
	.type	\name, %function
	.balign	16
\name:
.endm

.macro endfunc name
	.size	\name, . - \name
.endm

/* The address of a place in the image, relative to the instruction. */
.macro address reg, symbol
	ldr	\reg, 9f
8:	add	\reg, pc, \reg
	b	7f
9:	.long	\symbol - (8b + 8)
7:
.endm

	.section .head, "ax"
	.globl	image_start
	.type	image_start, %object
image_start:
	.rept	8
	nop
	.endr
	b	boot
	.long	0x016f2818
	.long	0			/* start address: any */
	.long	image_end - image_start
	.size	image_start, . - image_start

	.text

/* r2: the device tree. */
func boot
	mov	r8, r2
	bl	flush_boot_data
	address	r0, boot_begin
	address	r1, boot_cleared
	bl	clear
	address	sp, boot_stack_top
	mov	r7, #0			/* Thumb's frame pointer */
	mov	fp, #0
	mov	r0, r8
	bl	boot_init
	bl	flush_boot_data
	ldr	r0, =boot_virtual
	b	enable_mmu
endfunc boot

/*
 * The memory between boot_begin and boot_end is only written without caches. Its cached
 * contents are stale, before the writes and after: B2.2.
 */
func flush_boot_data
	address	r0, boot_begin
	address	r1, boot_end
	mrc	p15, 0, r2, c0, c0, 1	/* CTR.DminLine: log2 of a line's words */
	ubfx	r2, r2, #16, #4
	mov	r3, #4
	lsl	r3, r3, r2
1:	mcr	p15, 0, r0, c7, c14, 1	/* DCCIMVAC */
	add	r0, r0, r3
	cmp	r0, r1
	blo	1b
	dsb
	bx	lr
endfunc flush_boot_data

/* r0 to r1, multiples of 64. */
func clear
	mov	r2, #0
	mov	r3, #0
1:	strd	r2, r3, [r0], #8
	cmp	r0, r1
	blo	1b
	bx	lr
endfunc clear

/* r0: where to continue. r8 is preserved. */
func enable_mmu
	address	r1, boot_registers
	ldm	r1, {r2, r3, r4, r5, r6, r7}
	mcr	p15, 0, r6, c2, c0, 2	/* TTBCR */
	isb
#ifdef LONG_TABLES
	mcrr	p15, 0, r2, r3, c2	/* TTBR0 */
	mcrr	p15, 1, r4, r5, c2	/* TTBR1 */
	mcr	p15, 0, r7, c10, c2, 0	/* MAIR0 */
#else
	mcr	p15, 0, r2, c2, c0, 0
	mcr	p15, 0, r4, c2, c0, 1
	mov	r2, #1			/* DACR: the entries of domain 0 define the permissions */
	mcr	p15, 0, r2, c3, c0, 0
#endif
	mov	r2, #0
	mcr	p15, 0, r2, c8, c7, 0	/* TLBIALL */
	mcr	p15, 0, r2, c7, c5, 0	/* ICIALLU */
	mcr	p15, 0, r2, c7, c5, 6	/* BPIALL */
	dsb
	isb
	mrc	p15, 0, r2, c1, c0, 0	/* SCTLR */
	ldr	r3, =SCTLR_OFF
	bic	r2, r2, r3
	ldr	r3, =SCTLR_ON
	orr	r2, r2, r3
	mcr	p15, 0, r2, c1, c0, 0
	isb
	bx	r0
endfunc enable_mmu

func boot_virtual
	ldr	r0, =boot_end
	ldr	r1, =bss_end
	bl	clear
	b	_start
endfunc boot_virtual

/* The outermost frame of vCPU 0. */
func _start
	ldr	r0, =vectors
	mcr	p15, 0, r0, c12, c0, 0	/* VBAR */
	ldr	sp, =boot_stack_top
	mov	r7, #0
	mov	fp, #0
	mov	r0, #0
	mov	r1, #0
	bl	guest_setup
	mov	sp, r0
	/* The frame saved by guest_main ends the chain: frame pointer 0. The zeros above it
	 * are a frame record for unwinders that look further. */
	mov	r7, #0
	mov	fp, #0
	mov	ip, #0
	mov	lr, #0
	push	{r7, fp, ip, lr}
	bl	guest_main
	udf	#0
endfunc _start

/* r0: the vCPU's number. */
func secondary_boot
	mov	r8, r0
	ldr	r0, =secondary_start
	b	enable_mmu
endfunc secondary_boot

/* The outermost frame of the other vCPUs. */
func secondary_start
	ldr	r0, =vectors
	mcr	p15, 0, r0, c12, c0, 0
	ldr	r0, =secondary_stack
	ldr	sp, [r0]
	mov	r7, #0
	mov	fp, #0
	mov	ip, #0
	mov	lr, #0
	push	{r7, fp, ip, lr}
	mov	r0, r8
	bl	secondary_main
	udf	#0
endfunc secondary_start

/* B1.8.1. The only exceptions are the guest's own faults, whose stack may be unusable. */
	.balign	32
	.type	vectors, %object
vectors:
	.rept	8
	b	fault
	.endr
	.size	vectors, . - vectors

func fault
	cps	#0x13
	ldr	sp, =boot_stack_top
	mov	r0, #3			/* SHUTDOWN_crash */
	bl	xen_shutdown
endfunc fault

/* Called by libgcc's divisions for a divisor of 0. */
func __aeabi_ldiv0
	udf	#0
endfunc __aeabi_ldiv0

	.section .bss.boot, "aw", %nobits
	.balign	64
	.type	boot_stack, %object
boot_stack:
	.skip	4 * PAGE_SIZE
boot_stack_top:
	.size	boot_stack, . - boot_stack

	.section .note.GNU-stack, "", %progbits

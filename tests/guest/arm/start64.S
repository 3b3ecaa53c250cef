/*
 * Image header, entry points, page tables on. Arm ARM is DDI 0487.
 *
 * A vCPU starts at EL1 without page tables and caches, at its guest-physical address; vCPU
 * 0 at image_start, which Linux's Documentation/arm64/booting.rst describes.
 */
#include "cpu.h"

/* D17.2.118: the bits that are always 1, instruction cache, data cache, page tables. */
#define SCTLR 0x30d01985

.macro func name
	.globl	\name
	.type	\name, %function
	.balign	16
\name:
.endm

.macro endfunc name
	.size	\name, . - \name
.endm

.macro address reg, symbol
	adrp	\reg, \symbol
	add	\reg, \reg, :lo12:\symbol
.endm

	.section .head, "ax"
	.globl	image_start
	.type	image_start, %object
image_start:
	b	boot
	.long	0
	.quad	TEXT_OFFSET
	.quad	bss_limit - image_start
	.quad	2			/* little-endian, pages of 4K */
	.quad	0, 0, 0
	.ascii	"ARM\x64"
	.long	0
	.size	image_start, . - image_start

	.text

/* x0: the device tree. */
func boot
	mov	x19, x0
	bl	flush_boot_data
	address	x0, boot_begin
	address	x1, boot_cleared
	bl	clear
	address	x0, boot_stack_top
	mov	sp, x0
	mov	x29, xzr
	mov	x0, x19
	bl	boot_init
	bl	flush_boot_data
	ldr	x0, =boot_virtual
	b	enable_mmu
endfunc boot

/*
 * The memory between boot_begin and boot_end is only written without caches. Its cached
 * contents are stale, before the writes and after: B2.8.
 */
func flush_boot_data
	address	x0, boot_begin
	address	x1, boot_end
	mrs	x2, ctr_el0		/* DminLine: log2 of a line's words */
	ubfx	x2, x2, #16, #4
	mov	x3, #4
	lsl	x3, x3, x2
1:	dc	civac, x0
	add	x0, x0, x3
	cmp	x0, x1
	b.lo	1b
	dsb	sy
	ret
endfunc flush_boot_data

/* x0 to x1, multiples of 64. */
func clear
1:	stp	xzr, xzr, [x0], #16
	cmp	x0, x1
	b.lo	1b
	ret
endfunc clear

/* x0: where to continue. x19 is preserved. */
func enable_mmu
	address	x1, boot_registers
	ldp	x2, x3, [x1]
	ldp	x4, x5, [x1, #16]
	msr	ttbr0_el1, x2
	msr	ttbr1_el1, x3
	msr	tcr_el1, x4
	msr	mair_el1, x5
	tlbi	vmalle1
	ic	iallu
	dsb	nsh
	isb
	ldr	x2, =SCTLR
	msr	sctlr_el1, x2
	isb
	br	x0
endfunc enable_mmu

func boot_virtual
	address	x0, boot_end
	address	x1, bss_end
	bl	clear
	b	_start
endfunc boot_virtual

/* The outermost frame of vCPU 0. */
func _start
	address	x0, vectors
	msr	vbar_el1, x0
	address	x0, boot_stack_top
	mov	sp, x0
	mov	x29, xzr
	mov	x0, xzr
	mov	x1, xzr
	bl	guest_setup
	mov	sp, x0
	/* The frame saved by guest_main ends the chain: frame pointer 0. The zeros above it
	 * are a frame record for unwinders that look further (AAPCS64, 6.4.6). */
	stp	xzr, xzr, [sp, #-16]!
	mov	x29, xzr
	bl	guest_main
	brk	#0
endfunc _start

/* x0: the vCPU's number. */
func secondary_boot
	mov	x19, x0
	ldr	x0, =secondary_start
	b	enable_mmu
endfunc secondary_boot

/* The outermost frame of the other vCPUs. */
func secondary_start
	address	x0, vectors
	msr	vbar_el1, x0
	address	x0, secondary_stack
	ldr	x0, [x0]
	mov	sp, x0
	stp	xzr, xzr, [sp, #-16]!
	mov	x29, xzr
	mov	x0, x19
	bl	secondary_main
	brk	#0
endfunc secondary_start

/* D1.10.2. The only exceptions are the guest's own faults, whose stack may be unusable. */
	.balign	2048
	.type	vectors, %object
vectors:
	.rept	16
	.balign	128
	b	fault
	.endr
	.size	vectors, . - vectors

func fault
	address	x0, boot_stack_top
	mov	sp, x0
	mov	x0, #3			/* SHUTDOWN_crash */
	bl	xen_shutdown
endfunc fault

	.section .bss.boot, "aw", %nobits
	.balign	64
	.type	boot_stack, %object
boot_stack:
	.skip	4 * PAGE_SIZE
boot_stack_top:
	.size	boot_stack, . - boot_stack

	.section .note.GNU-stack, "", %progbits

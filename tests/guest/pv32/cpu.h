/* CPU-specific definitions for the test guest in 32-bit x86 code, which is a PV guest. */
#ifndef CPU_H
#define CPU_H

/* Linked as a Linux kernel is; physical address = virtual address - BASE. */
#define BASE 0xc0000000

#define PAGE_SIZE 0x1000

/* PTE bits: Intel SDM vol. 3A, 4.4.2. */
#define PTE_PRESENT 0x01
#define PTE_WRITE   0x02

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t pte_t;

/* start.S */
extern char hypercall_page[PAGE_SIZE];
void secondary_start(void);

/* memory.c */

/* Maps the stacks. p2m is Xen's list of the guest's machine frames. */
void memory_init(const unsigned long *p2m);

/* xen_pv32.c */
const void *xen_shared_info(void);

/* Returns the frame pointer of the calling frame, 0 in the outermost frame: System V ABI,
 * Intel386 supplement, 2.2.2. */
static inline const unsigned long *frame_caller(const unsigned long *frame)
{
	return (const unsigned long *)frame[0];
}

/* The compiler gives a leaf function a full frame. */
static inline __attribute__((always_inline)) void frame_leaf(void)
{
}

static inline void cpu_relax(void)
{
	asm volatile("pause");
}

/* There are no other stacks to move to. */
static inline __attribute__((always_inline)) void
call_on_stack(void *top, uint64_t (*chain)(unsigned long, uint64_t), unsigned long nest,
	      uint64_t n)
{
	(void)top;
	chain(nest, n);
}

#endif
#endif

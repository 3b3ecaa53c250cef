/* CPU-specific definitions for the test guest: 64-bit ARM, or 32-bit ARM with short or
 * (LONG_TABLES) long descriptors. */
#ifndef CPU_H
#define CPU_H

/*
 * xen/include/public/arch-arm.h: the start of a guest's memory. Xen's tools load a 64-bit
 * image at the offset that it requests, a 32-bit image at 0x8000. There are 2 MB for
 * LARGE before the 64-bit image, and after the 32-bit image; the device tree is near the
 * end of memory.
 */
#define RAM 0x40000000
#ifdef __aarch64__
#define LONG_TABLES
#define TEXT_OFFSET 0x200000
#define LARGE	    RAM
#define IMAGE_LIMIT (RAM + 0x1e00000)
#else
#define TEXT_OFFSET 0x8000
#define LARGE	    IMAGE_LIMIT
#define IMAGE_LIMIT (RAM + 0x1a00000)
#endif

/* Linked at virtual address = guest-physical address + BASE, which the Makefile defines.
 */
#define IMAGE_PHYS (RAM + TEXT_OFFSET)

#define PAGE_SIZE  0x1000
#define LARGE_SIZE 0x200000

/*
 * Entries of page tables, for memory that is cached and shared with Xen. Long: Arm ARM
 * (DDI 0487), D8.3; AF, inner shareable, attributes 0 of MAIR. Short: Arm ARM for v7-A
 * (DDI 0406C), B3.5.1; TEX 1, C, B, S, privileged access.
 */
#ifdef LONG_TABLES
#define PTE_TABLE     0x003
#define PTE_PAGE      0x703
#define PTE_BLOCK     0x701
#define PTE_SHARED    0x300
#define PTE_RECURSIVE PTE_PAGE /* refers to a table that is a page, too */
#else
#define PTE_TABLE	 0x00001
#define PTE_PAGE	 0x0045e
#define PTE_LARGE_PAGE	 0x0141d
#define PTE_SECTION	 0x1140e
#define PTE_SUPERSECTION 0x5140e
#define PTE_RECURSIVE	 PTE_TABLE
#endif

/*
 * For hostile.c:
 *   GRANTS_GFN      a guest frame that is free for a grant table
 *   NO_MEMORY       guest-physical addresses beyond all memory
 *   PLACES          unused addresses
 *   APART_BY        distance of boundaries whose adjacent words share no tables
 *   RECURSIVE       address of word RECURSIVE_WORD of a table that maps itself
 *   RESERVED_PLACE  an address mapped by a table that doesn't exist
 *   HUGE_ONES       an entry of a block, all ones
 */
#define GRANTS_GFN 0x38000ul
/* The length of a kind's turn, ns, and the kinds with more turns than one: their samples
 * take a recorder long, because it has much to map. */
#define TURN 200000000
#define MORE_TURNS                                                               \
	KIND_apart, KIND_apart, KIND_moving, KIND_storm, KIND_storm, KIND_storm, \
		KIND_storm, KIND_storm, KIND_nowhere
#ifdef __aarch64__
#define NO_MEMORY      0x7000000000ul
#define PLACES	       (1ul << 39)
#define PLACE_SIZE     (1ul << 30)
#define APART_BY       (1ul << 39)
#define NONCANONICAL   (1ul << 48)
#define TOP_LEVEL      4
#define TABLE_SIZE     PAGE_SIZE
#define RECURSIVE      (300ul << 39 | 300ul << 30 | 300ul << 21 | 300ul << 12 | 400 * 8)
#define RECURSIVE_WORD 400
#define RESERVED_PLACE (301ul << 39)
#define RESERVED_TABLE (0x0000fffffffff000 | PTE_TABLE)
#define HUGE_LEVEL     3
#define HUGE_ONES      ~2ul
#else
#define NO_MEMORY      0x80000000ul
#define PLACES	       0x90000000ul
#define PLACE_SIZE     0x200000ul
#define NONCANONICAL   0ul /* 32-bit: no such address */
#define TOP_LEVEL      2   /* with long descriptors, level 3 has no entries to spare */
#define RESERVED_PLACE 0xa0000000ul
#define HUGE_LEVEL     2
#ifdef LONG_TABLES
#define APART_BY       0x200000ul
#define TABLE_SIZE     PAGE_SIZE
#define RECURSIVE      (0x80000000ul | 300ul << 21 | 300ul << 12 | 400 * 8)
#define RECURSIVE_WORD 400
#define RESERVED_TABLE (0x000000fffffff000 | PTE_TABLE)
#define HUGE_ONES      ~2ull
#else
#define APART_BY       0x100000ul
/* Entries a00 to aff of the first-level table are used as a second-level table. Its entry
 * a02 maps a large page, at the beginning of which is the first-level table. */
#define TABLE_SIZE     1024
#define RECURSIVE      (0xa0200000ul + (0xa00 + RECURSIVE_WORD) * 4)
#define RECURSIVE_WORD 8
#define RESERVED_TABLE (0xfffffc00 | PTE_TABLE)
#define HUGE_ONES      ~1ul
#endif
#endif
#define RECURSIVE_LEVEL TOP_LEVEL
/* A return address beside the frame pointer, where one entry holds both words of a frame.
 */
#if defined(LONG_TABLES) && !defined(__aarch64__)
#define RECURSIVE_RETURN (4ull << 32)
#else
#define RECURSIVE_RETURN 0
#endif

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses are relative to the instruction, not from an address table (see memory.c). */
#pragma GCC visibility push(hidden)

#ifdef LONG_TABLES
typedef uint64_t pte_t;
#else
typedef uint32_t pte_t;
#endif

/* start64.S, start32.S */
extern char image_start[];
void secondary_boot(void);

/* memory.c */

#define CAN_BALLOON true

const char *memory_command_line(void);
/* The top of the stack of the next vCPU that is started at secondary_boot. */
void memory_set_secondary(void *stack_top);

/* The end of a frame of GCC's Thumb code can't be found from the frame pointer. */
#if defined(NO_LEAF_FRAME) || (defined(__thumb__) && !defined(__clang__))
#define NO_WALK
#endif

/*
 * Returns the frame pointer of the caller, 0 in the outermost frame. AArch64 and clang's
 * Thumb: the frame pointer points at the caller's frame pointer, and the return address
 * is above that (AAPCS64 and AAPCS32, "The Frame Pointer"). GCC's ARM code: it points at
 * the return address, and the caller's frame pointer is below; with -mapcs-frame, which
 * saves fp, sp, lr and pc, it points at the pc.
 */
#if defined(__aarch64__) || defined(__thumb__)
#define FRAME_CALLER 0
#elif defined(APCS_FRAME)
#define FRAME_CALLER -3
#else
#define FRAME_CALLER -1
#endif
static inline const unsigned long *frame_caller(const unsigned long *frame)
{
	return (const unsigned long *)frame[FRAME_CALLER];
}

/* Offset from the lower of a frame's two words to the target of the frame pointer. */
#define FRAME_POINTER (-FRAME_CALLER * sizeof(long))

/*
 * Makes the compiler give a leaf function a full frame. GCC has no option for that on
 * 32-bit ARM: it saves the return address only in functions that write to lr.
 */
static inline __attribute__((always_inline)) void frame_leaf(void)
{
#if defined(__arm__) && !defined(__clang__) && !defined(NO_LEAF_FRAME)
	asm volatile("" : : : "lr");
#endif
}

static inline void cpu_relax(void)
{
	asm volatile("yield");
}

/* The virtual counter: Arm ARM, D11.1.2. */
static inline uint64_t cpu_ticks(void)
{
#ifdef __aarch64__
	uint64_t ticks;

	asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
	return ticks;
#else
	uint32_t low, high;

	asm volatile("isb\n\tmrrc p15, 1, %0, %1, c14"
		     : "=r"(low), "=r"(high)
		     :
		     : "memory");
	return (uint64_t)high << 32 | low;
#endif
}

/* Inlined: another frame would make the chain deeper. */
static inline __attribute__((always_inline)) void
call_on_stack(void *top, uint64_t (*chain)(unsigned long, uint64_t), unsigned long nest,
	      uint64_t n)
{
#ifdef __aarch64__
	register unsigned long x0 asm("x0") = nest;
	register uint64_t x1 asm("x1") = n;

	asm volatile("mov x19, sp\n\t"
		     "mov sp, %[top]\n\t"
		     "blr %[chain]\n\t"
		     "mov sp, x19"
		     : "+r"(x0), "+r"(x1)
		     : [top] "r"(top), [chain] "r"(chain)
		     : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
		       "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x30",
		       "cc", "memory");
#else
	register unsigned long r0 asm("r0") = nest;
	register uint64_t r2 asm("r2") = n;

	asm volatile("mov r4, sp\n\t"
		     "mov sp, %[top]\n\t"
		     "blx %[chain]\n\t"
		     "mov sp, r4"
		     : "+r"(r0), "+r"(r2)
		     : [top] "r"(top), [chain] "r"(chain)
		     : "r1", "r4", "r12", "lr", "cc", "memory");
#endif
}

#endif
#endif

/* CPU-specific definitions for the test guest. */
#ifndef CPU_H
#define CPU_H

/* Linked 2 GiB below the top; guest-physical address = virtual address - BASE. */
#define BASE 0xffffffff80000000

/* event.c */
#define HAS_EVENTS

#define PAGE_SIZE  0x1000
#define LARGE_SIZE 0x200000

/* For hostile.c: where guest-physical RAM begins, and addresses beyond all of it. */
#define RAM	  0ul
#define NO_MEMORY 0x7000000000ul
/* A guest frame that is free for a grant table. */
#define GRANTS_GFN 0x80000ul
/* Unused addresses, a GiB apart. */
#define PLACES	   (1ul << 39)
#define PLACE_SIZE (1ul << 30)
/* Distance of boundaries whose adjacent words share no tables. */
#define APART_BY     (1ul << 39)
#define NONCANONICAL (1ul << 47)
/* Addresses of the top table's entries 300, which maps the table itself, and 301. */
#define RECURSIVE                                                                     \
	(0xffff000000000000 | 300ul << 39 | 300ul << 30 | 300ul << 21 | 300ul << 12 | \
	 RECURSIVE_WORD * 8)
#define RECURSIVE_LEVEL	 4
#define RECURSIVE_WORD	 400
#define RECURSIVE_RETURN 0
#define TABLE_SIZE	 PAGE_SIZE
#define RESERVED_PLACE	 (0xffff000000000000 | 301ul << 39)
#define RESERVED_TABLE	 (0x000ffffffffff000 | PTE_TABLE)
#define TOP_LEVEL	 4
/* The length of a kind's turn, ns, and the kinds with more turns than one. */
#define TURN 400000000
#define MORE_TURNS
/* The entry of a page of 1G. */
#define HUGE_LEVEL 3
#define HUGE_ONES  ~0ul

/* PTE bits: Intel SDM vol. 3A, 4.5.4. */
#define PTE_PRESENT 0x01
#define PTE_WRITE   0x02
#define PTE_LARGE   0x80

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t pte_t;

/* An entry that refers to a page, and one that refers to a table. */
#define PTE_PAGE      (PTE_PRESENT | PTE_WRITE)
#define PTE_TABLE     (PTE_PRESENT | PTE_WRITE)
#define PTE_RECURSIVE PTE_PRESENT /* refers to a table that is a page, too */

/* start.S */
extern uint64_t boot_l4[512], boot_l3[512], boot_l2[512];
extern char hypercall_page[PAGE_SIZE];
void secondary_start(void);

static inline uint64_t virt_to_phys(const void *virt)
{
	return (uint64_t)virt - BASE;
}

static inline void *phys_to_virt(uint64_t phys)
{
	return (void *)(phys + BASE);
}

/* memory.c */

/*
 * Builds the address space. root is the top page table; p2m is the list of a PV guest's
 * machine frames, NULL for PVH.
 */
void memory_init(uint64_t *root, const unsigned long *p2m);
uint64_t *memory_root(void);
bool memory_is_pv(void);
/* Returns the place in the image of the page that a page table's entry refers to. */
void *memory_at(uint64_t entry);
/* Returns the guest-physical address of the RAM that window page nr was linked to. */
uint64_t memory_slot_phys(unsigned int nr);

/* Xen takes back a page of memory, except one in a PV guest's page table. */
#define CAN_BALLOON (!memory_is_pv())

/* xen_x86.c */

const void *xen_shared_info(void);
/* Lets a PV guest write to its lowest page tables; Xen then validates the entries. */
long xen_allow_table_writes(void);

#ifdef NO_FRAME_POINTER
#define NO_WALK
#endif

/* Returns the frame pointer of the calling frame, 0 in the outermost frame: System V ABI,
 * AMD64 supplement, 3.2.2. */
static inline const unsigned long *frame_caller(const unsigned long *frame)
{
	return (const unsigned long *)frame[0];
}

/* Offset from the lower of a frame's two words to the target of the frame pointer. */
#define FRAME_POINTER 0

/* Makes the compiler give a leaf function a full frame if its options don't. */
static inline __attribute__((always_inline)) void frame_leaf(void)
{
}

static inline void cpu_relax(void)
{
	asm volatile("pause");
}

/* Returns ticks of the clock that hostile_KIND() (spin.S) looks at. */
static inline uint64_t cpu_ticks(void)
{
	uint32_t low, high;

	asm volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Inlined: another frame would make the chain deeper. */
static inline __attribute__((always_inline)) void
call_on_stack(void *top, uint64_t (*chain)(unsigned long, uint64_t), unsigned long nest,
	      uint64_t n)
{
	uint64_t result;

	/* The chain has to preserve rbx, but not the clobbered registers. */
	asm volatile("mov %%rsp, %%rbx\n\t"
		     "mov %[top], %%rsp\n\t"
		     "call *%[chain]\n\t"
		     "mov %%rbx, %%rsp"
		     : "=a"(result), "+D"(nest), "+S"(n)
		     : [top] "r"(top), [chain] "r"(chain)
		     : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
}

#endif
#endif

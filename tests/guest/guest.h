/* What the files of the test guest share. */
#ifndef GUEST_H
#define GUEST_H

/* Linked 2 GiB below the top; guest-physical address = virtual address - BASE. */
#define BASE 0xffffffff80000000

#define PAGE_SIZE  0x1000
#define LARGE_SIZE 0x200000

/* PTE bits: Intel SDM vol. 3A, 4.5.4. */
#define PTE_PRESENT 0x01
#define PTE_WRITE   0x02
#define PTE_LARGE   0x80

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* start.S */
extern uint64_t boot_l4[512], boot_l3[512], boot_l2[512];
extern char hypercall_page[PAGE_SIZE];
void secondary_start(void);

/* As many as the guest can bring up. */
#define MAX_VCPUS 8

/* memory.c: page tables and the stacks. */

enum stack_kind {
	STACK_MIXED,
	STACK_4K,
	STACK_2M,
	STACK_1G
};

static inline uint64_t virt_to_phys(const void *virt)
{
	return (uint64_t)virt - BASE;
}

static inline void *phys_to_virt(uint64_t phys)
{
	return (void *)(phys + BASE);
}

/*
 * Builds the address space; root is the top page table, p2m the PV list of machine
 * frames, NULL for PVH.
 */
void memory_init(uint64_t *root, const unsigned long *p2m);
uint64_t *memory_root(void);
bool memory_is_pv(void);

/* The machine (PVH: guest-physical) address of what is in the image but not its window,
 * and where what a page table's entry names is in the image. */
uint64_t memory_address(const void *virt);
void *memory_at(uint64_t entry);

/* Maps the 4K page at machine address addr (PVH: guest-physical) at window page nr. */
enum {
	SLOT_CONSOLE,
	SLOT_SHARED_INFO
};
void *memory_map_slot(unsigned int nr, uint64_t addr);

/* The guest-physical address of the RAM that stood at window page nr. */
uint64_t memory_slot_phys(unsigned int nr);

/*
 * The top of vCPU 0's stack. *kind becomes STACK_2M when it asks for a 1G page and
 * there is none; *pages is what the stack's pages are, for people.
 */
void *memory_stack_top(enum stack_kind *kind, const char **pages);
/* Of vCPU 1 and those after it. */
void *memory_secondary_stack_top(unsigned int vcpu);

/*
 * Stacks to move to, each of at least that many bytes in pages that have been used by no
 * other: the top of the one after the last that was asked for, with as many bytes, and
 * the first again after as many as fit into 8 MB. They lie below all others, so that
 * frames still ascend from one to its caller's.
 */
void *memory_next_stack_top(size_t bytes);

/* What any vCPU's stack has room for. */
#define STACK_SIZE (32 * PAGE_SIZE)

/* xen.c: all that is asked of Xen. */

/* Returns the command line. */
const char *xen_init(const void *start_info, bool pv);

/* "pv", "pvh" or "hvm" */
const char *xen_mode(void);

/* Writes all n bytes or, when the ring has no room, none. Never blocks. */
bool xen_console_write(const char *bytes, size_t n);

/* Each vCPU calls it once, vCPU 0 first, before it asks for the time. */
void xen_time_init(unsigned int vcpu);

/* Nanoseconds since some fixed moment. */
uint64_t xen_time(void);

/*
 * Nanoseconds for which the calling vCPU has been running, never less than before. The
 * rest, for which it was paused or had no CPU, goes to *stolen unless that is NULL.
 */
uint64_t xen_running_time(unsigned int vcpu, uint64_t *stolen);

/* Starts a vCPU at secondary_start, with its number for an argument; 0 or a Xen error
 * number below 0. */
long xen_start_vcpu(unsigned int vcpu, void *stack_top);

/* reason: SHUTDOWN_* of xen/sched.h */
void xen_shutdown(unsigned int reason) __attribute__((noreturn));

const void *xen_shared_info(void);

/* Has Xen map a page of its own at guest frame gfn: XENMAPSPACE_*. Not for PV. */
long xen_add_to_physmap(unsigned int space, uint64_t gfn);
/* Gives the guest's frame gfn back to Xen; gets a new page for it. Not for PV. */
long xen_balloon_out(uint64_t gfn);
long xen_balloon_in(uint64_t gfn);
/* Lets a PV guest write to its lowest page tables; Xen then looks at what it wrote. */
long xen_allow_table_writes(void);

/* tables.c */

/* Writes an entry of a page table; false when Xen does not allow it. */
bool tables_set(uint64_t *entry, uint64_t value);
/* The entry for the address at a level, 1 to 4 (the top one); makes the tables above,
 * NULL when Xen does not allow that. */
uint64_t *tables_entry(uint64_t address, unsigned int level);
bool tables_map(uint64_t address, const void *page);

/* hostile.c */

/* Makes ready for the kind of that name, "all" for each kind in turn. */
void hostile_init(const char *name);
/* Does its worst for a while, as the kind whose turn it is at that time (ns). */
void hostile_spell(uint64_t time);

/* print.c */

/*
 * One line to the console. Takes %s, %lu, %lx and a width of zero padding (%02lu).
 * A line that finds the ring full is dropped and counted.
 */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
unsigned long print_lost(void);

/* work.c: the call chains. */

/* Frames that each chain has between its caller and its leaf, but for the nested ones. */
#define CHAIN_FIXED 6 /* NAME, NAME_1 to NAME_4, NAME_leaf */

/*
 * Each runs n iterations in its leaf, CHAIN_FIXED + nest frames below its caller.
 * With n == 0 the leaf walks its own call chain, as a profiler would, and the result
 * is the number of addresses found (0 in the build without frame pointers); the
 * frames it saw are then in chain_low and chain_high.
 */
uint64_t alpha(unsigned long nest, uint64_t n);
uint64_t beta(unsigned long nest, uint64_t n);
uint64_t gamma(unsigned long nest, uint64_t n);
uint64_t delta(unsigned long nest, uint64_t n);
extern uint64_t chain_low, chain_high;

/* Bytes of locals in each of the nested frames; of no use without frame pointers. */
extern unsigned long work_nest_locals;

/*
 * Whether the leaves say now and then that another CPU might go on. QEMU with a counting
 * clock runs one CPU at a time, until its next timer comes, tens of ms maybe, unless the
 * CPU says so: all that other CPUs need from this one (an IPI) has to wait for it.
 */
extern bool work_yields;

#endif
#endif

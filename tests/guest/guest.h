/* Shared by the files of the test guest, for all CPUs. */
#ifndef GUEST_H
#define GUEST_H

#include "cpu.h"

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Must not be inlined, merged, cloned or specialised: each name is one symbol.
 */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

/* The most vCPUs that the guest can start. */
#define MAX_VCPUS 8

/* As in <inttypes.h>, which freestanding compilers lack. */
#if __SIZEOF_LONG__ == 8
#define PRIu64 "lu"
#define PRIx64 "lx"
#else
#define PRIu64 "llu"
#define PRIx64 "llx"
#endif

/* memory.c: page tables and the stacks. */

enum stack_kind {
	STACK_MIXED,
	STACK_4K,
	STACK_2M,
	STACK_1G
};

/* Returns the machine address (guest-physical unless PV) of a place in the image outside
 * its window. */
uint64_t memory_address(const void *virt);

/* Returns the virtual address at which @size bytes of RAM at guest-physical @phys can be
 * written; NULL if there is none. */
void *memory_ram(uint64_t phys, uint64_t size);

/* Maps the 4K page at machine address addr at window page nr. */
enum {
	SLOT_CONSOLE,
	SLOT_SHARED_INFO
};
void *memory_map_slot(unsigned int nr, uint64_t addr);

/*
 * Returns the top of vCPU 0's stack. *kind becomes STACK_2M if a 1G page is requested and
 * there is none; *pages is a human-readable description of the stack's pages.
 */
void *memory_stack_top(enum stack_kind *kind, const char **pages);
/* Returns the top of another vCPU's stack. */
void *memory_secondary_stack_top(unsigned int vcpu);

/*
 * Returns the top of the next stack to move to, which has at least the given number of
 * bytes, in pages of its own. Stacks lie one after the other in 8 MB; after the last that
 * fits, the first is next. All of them lie below the other stacks, so that a frame still
 * has a lower address than its caller's.
 */
void *memory_next_stack_top(size_t bytes);

/* The minimum size of any vCPU's stack. */
#define STACK_SIZE (32 * PAGE_SIZE)

/* xen.c: requests to Xen on all CPUs. */

/* The console's ring, and the event channel that signals new output. */
void xen_console_init(void *ring, uint32_t port);

/* Writes all n bytes or, if the ring has no space, none. Never blocks. */
bool xen_console_write(const char *bytes, size_t n);

/* HVM_PARAM_* of xen/hvm/params.h. Not for PV. */
uint64_t xen_hvm_param(uint32_t index);

/* Each vCPU calls it once, vCPU 0 first, before it reads the time. */
void xen_time_init(unsigned int vcpu);

/*
 * Running time of the calling vCPU in nanoseconds; never decreases. The rest of the time,
 * when it was paused or had no CPU, goes to *stolen unless that is NULL.
 */
uint64_t xen_running_time(unsigned int vcpu, uint64_t *stolen);

/* Asks Xen for its version this many times. */
void xen_ask(unsigned long calls);

/* reason: SHUTDOWN_* of xen/sched.h */
void xen_idle(void) __attribute__((noreturn));
void xen_shutdown(unsigned int reason) __attribute__((noreturn));

/* Lets Xen map one of its pages at guest frame gfn: XENMAPSPACE_*. Not for PV. */
long xen_add_to_physmap(unsigned int space, uint64_t gfn);
/* Returns the guest's frame gfn to Xen; allocates a new page for it. Not for PV. */
long xen_balloon_out(uint64_t gfn);
long xen_balloon_in(uint64_t gfn);

/* xen_x86.c, xen_arm.c: CPU-specific parts. */

/* Takes the kind of guest and its start parameters; returns the command line.
 */
const char *xen_init(const void *start_info, bool pv);

/* Returns the kind of guest, human-readable. */
const char *xen_mode(void);

/* Prepares xen_time(). */
void xen_clock_init(void);

/* Returns nanoseconds since some fixed moment. */
uint64_t xen_time(void);

/* Starts a vCPU at secondary_start, with its number as an argument; 0 or a negative error
 * number. */
long xen_start_vcpu(unsigned int vcpu, void *stack_top);

#ifdef HAS_EVENTS
/* event.c: calls event_work() for each event of Xen from now on; 0 or a negative error
 * number. PV only. */
long xen_start_events(void);
/* main.c */
void event_work(void);
#endif

/* tables.c */

/* Writes an entry of a page table; false if Xen does not allow it. */
bool tables_set(pte_t *entry, pte_t value);
/* Returns the entry for the address at a level, 1 being the lowest, and creates the
 * tables above it; NULL if Xen does not allow that. */
pte_t *tables_entry(unsigned long address, unsigned int level);
bool tables_map(unsigned long address, const void *page);

/* hostile.c */

/* Prepares the kind of that name; "all" for each kind in turn. */
void hostile_init(const char *name);
/* Attacks for a while, with the kind whose turn it is at the time (ns). */
void hostile_spell(uint64_t time);

/* option.c */

/* Returns the text after "name=" in the command line; NULL if there is none. */
const char *option_text(const char *line, const char *name);
unsigned long option_number(const char *line, const char *name, unsigned long otherwise);

/* print.c */

/*
 * One line to the console. Takes %s, %lu, %lx, PRIu64, PRIx64 and a width of zero padding
 * (%02lu). A line that finds the ring full is dropped and counted.
 */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
unsigned long print_lost(void);

/* work.c: the call chains. */

/* Frames of each chain from its first function to its leaf, without nested frames. */
#define CHAIN_FIXED 6 /* NAME, NAME_1 to NAME_4, NAME_leaf */

/*
 * Each function runs n iterations in its leaf, CHAIN_FIXED + nest frames below its
 * caller. With n == 0 the leaf walks its own call chain, as a profiler would, and the
 * result is the number of addresses found (0 if not all have frame pointers); chain_low
 * and chain_high are then the lowest and highest frame.
 */
uint64_t alpha(unsigned long nest, uint64_t n);
uint64_t beta(unsigned long nest, uint64_t n);
uint64_t gamma(unsigned long nest, uint64_t n);
uint64_t delta(unsigned long nest, uint64_t n);
extern unsigned long chain_low, chain_high;

/* Bytes of locals in each of the nested frames; ignored without frame pointers. */
extern unsigned long work_nest_locals;

/*
 * Whether the leaves yield to other CPUs now and then. QEMU with a counting clock runs
 * one CPU at a time, until its next timer, maybe tens of ms, unless the CPU yields:
 * everything that other CPUs need from this one (an IPI) has to wait for it.
 */
extern bool work_yields;

#endif
#endif

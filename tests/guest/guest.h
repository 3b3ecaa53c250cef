/* What the files of the test guest share, whatever the CPU. */
#ifndef GUEST_H
#define GUEST_H

#include "cpu.h"

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nothing of it may be inlined, merged, cloned or specialised: each name is one symbol.
 */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

/* As many as the guest can bring up. */
#define MAX_VCPUS 8

/* As <inttypes.h>, which belongs to no freestanding compiler, has them. */
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

/* The machine address (guest-physical unless PV) of what is in the image but not its
 * window. */
uint64_t memory_address(const void *virt);

/* Where @size bytes of RAM at guest-physical @phys can be written to; NULL when there are
 * none. */
void *memory_ram(uint64_t phys, uint64_t size);

/* Maps the 4K page at machine address addr at window page nr. */
enum {
	SLOT_CONSOLE,
	SLOT_SHARED_INFO
};
void *memory_map_slot(unsigned int nr, uint64_t addr);

/*
 * The top of vCPU 0's stack. *kind becomes STACK_2M when it asks for a 1G page and
 * there is none; *pages is what the stack's pages are, for people.
 */
void *memory_stack_top(enum stack_kind *kind, const char **pages);
/* Of vCPU 1 and those after it. */
void *memory_secondary_stack_top(unsigned int vcpu);

/*
 * Stacks to move to, each of some pages that have been used by no other: the top of the
 * one after the last that was asked for, the first again after MOVING_STACKS. They lie
 * below all others, so that frames still ascend from one to its caller's.
 */
#define MOVING_STACKS 512
void *memory_next_stack_top(void);

/* xen.c: what is asked of Xen on any CPU. */

/* The console's ring, and the event channel to tell of what is in it. */
void xen_console_init(void *ring, uint32_t port);

/* Writes all n bytes or, when the ring has no room, none. Never blocks. */
bool xen_console_write(const char *bytes, size_t n);

/* HVM_PARAM_* of xen/hvm/params.h. Not for PV. */
uint64_t xen_hvm_param(uint32_t index);

/* Each vCPU calls it once, vCPU 0 first, before it asks for the time. */
void xen_time_init(unsigned int vcpu);

/*
 * Nanoseconds for which the calling vCPU has been running, never less than before. The
 * rest, for which it was paused or had no CPU, goes to *stolen unless that is NULL.
 */
uint64_t xen_running_time(unsigned int vcpu, uint64_t *stolen);

/* reason: SHUTDOWN_* of xen/sched.h */
void xen_shutdown(unsigned int reason) __attribute__((noreturn));

/* Has Xen map a page of its own at guest frame gfn: XENMAPSPACE_*. Not for PV. */
long xen_add_to_physmap(unsigned int space, uint64_t gfn);
/* Gives the guest's frame gfn back to Xen; gets a new page for it. Not for PV. */
long xen_balloon_out(uint64_t gfn);
long xen_balloon_in(uint64_t gfn);

/* xen_x86.c, xen_arm.c: what differs. */

/* Whether the guest is a PV one and what it was started with; returns the command line.
 */
const char *xen_init(const void *start_info, bool pv);

/* What the guest is, for people. */
const char *xen_mode(void);

/* Makes xen_time() ready. */
void xen_clock_init(void);

/* Nanoseconds since some fixed moment. */
uint64_t xen_time(void);

/* Starts a vCPU at secondary_start, with its number for an argument; 0 or an error
 * number below 0. */
long xen_start_vcpu(unsigned int vcpu, void *stack_top);

/* tables.c */

/* Writes an entry of a page table; false when Xen does not allow it. */
bool tables_set(pte_t *entry, pte_t value);
/* The entry for the address at a level, 1 to the top one; makes the tables above, NULL
 * when Xen does not allow that. */
pte_t *tables_entry(unsigned long address, unsigned int level);
bool tables_map(unsigned long address, const void *page);

/* hostile.c */

/* Makes ready for the kind of that name, "all" for each kind in turn. */
void hostile_init(const char *name);
/* Does its worst for a while, as the kind whose turn it is at that time (ns). */
void hostile_spell(uint64_t time);

/* option.c */

/* The text after "name=" in the command line, or NULL. */
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

/* Frames that each chain has between its caller and its leaf, but for the nested ones. */
#define CHAIN_FIXED 6 /* NAME, NAME_1 to NAME_4, NAME_leaf */

/*
 * Each runs n iterations in its leaf, CHAIN_FIXED + nest frames below its caller.
 * With n == 0 the leaf walks its own call chain, as a profiler would, and the result
 * is the number of addresses found (0 when not all have frame pointers); the
 * frames it saw are then in chain_low and chain_high.
 */
uint64_t alpha(unsigned long nest, uint64_t n);
uint64_t beta(unsigned long nest, uint64_t n);
uint64_t gamma(unsigned long nest, uint64_t n);
uint64_t delta(unsigned long nest, uint64_t n);
extern unsigned long chain_low, chain_high;

#endif
#endif

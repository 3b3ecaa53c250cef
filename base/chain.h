/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_CHAIN_H
#define UNIPROF_BASE_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Call chains, for all folders: unwind/ makes them, format/ stores them, report/ counts
 * them. The enumerations are stored in recordings: new values may be added, but existing
 * values never change (format/FORMAT.md).
 */

/* Why a call chain ends: it is whole, its end is unknown, or it is cut. */
enum chain_end {
	CHAIN_WHOLE = 0,	 /* the last function is known to be an outermost one */
	CHAIN_TOO_DEEP = 1,	 /* more addresses than can be followed */
	CHAIN_NOT_PRESENT = 2,	 /* next frame's address not in the guest's page tables */
	CHAIN_NOT_CANONICAL = 3, /* next frame's address not usable by the CPU */
	CHAIN_NOT_ASCENDING = 4, /* the next frame is not at a higher address */
	CHAIN_UNALIGNED = 5,
	CHAIN_NO_PAGE = 6,   /* the page could not be mapped: usually not RAM */
	CHAIN_NOT_READY = 7, /* the page was not mapped in time */
	/* No call to the function precedes the next return address, according to the code
	 * of the guest's programs; found after the walk. */
	CHAIN_NOT_CALLED = 8,
	CHAIN_REAL_MODE = 9, /* 16-bit code, as at boot, has no frames */
	/* The next word of the stack was not captured (unwind/stack/stack.h). */
	CHAIN_NOT_CAPTURED = 10,
	/* There is no further frame: a frame pointer or return address of 0. Code that
	 * uses the register for something else may have a 0 there, too. */
	CHAIN_UNKNOWN = 11,
	/* The frame pointer did not lead on, and the code was not examined yet. */
	CHAIN_EARLY = 12,
	CHAIN_ENDS /* number of values */
};

/* Whether one function can have called another, according to a program's code. */
enum program_link {
	LINK_UNKNOWN,  /* a function is not in the program, or has no symbol */
	LINK_PROVEN,   /* the call is to the function, or to another that jumps to it */
	LINK_POSSIBLE, /* an indirect call, jumps that can't be followed, an interrupt */
	LINK_IMPOSSIBLE, /* no call, or a call to other functions */
	LINK_KINDS	 /* number of values */
};

/* How the callers in a domain's chains were found. */
enum unwind_way {
	UNWIND_WAY_UNKNOWN = 0,
	UNWIND_BY_FRAMES = 1, /* by frame pointers and the sampled code */
	UNWIND_BY_TABLE = 2,  /* by an unwind table, else by frames */
	/* by frames first; by table once the table's code was seen in the guest */
	UNWIND_BY_TABLE_LATER = 3,
	/* by frames; if these miss most callers, by a table made from the code in the
	 * guest's memory */
	UNWIND_BY_FOUND_CODE = 4,
	UNWIND_LATER = 5, /* in reports, from captured stacks */
};

/*
 * Maximum number of addresses in a recorded chain. Of a longer chain, the innermost
 * addresses and the CHAIN_OUTER outermost ones are kept, with the mark CHAIN_GAP between.
 * The mark is an address that no CPU has, and counts as one address. Of a chain with more
 * than CHAIN_STEPS addresses, only the innermost CHAIN_MAX are kept.
 */
#define CHAIN_MAX   256
#define CHAIN_OUTER 128
#define CHAIN_STEPS 4096
#define CHAIN_GAP   0x4fffffffffffffff

/* The mark between the handler of an interrupt or exception and the interrupted code. The
 * interrupted instruction's address + 1 follows, so that it is looked up like a return
 * address. */
#define CHAIN_INTERRUPT 0x4ffffffffffffffd

/*
 * Why a vCPU was not in the guest's code, but in the VMM or in the kernel for it: a kind
 * and, from bit 4 on, a detail. Stored in recordings like the ends above. 0: it was in
 * the guest's code, or it is not known.
 */
enum exit_kind {
	VMEXIT_IN = 1,	  /* read a port, the detail */
	VMEXIT_OUT = 2,	  /* wrote to one */
	VMEXIT_READ = 3,  /* read a device's memory, of the guest's page frame */
	VMEXIT_WRITE = 4, /* wrote to it */
	VMEXIT_HALT = 5,  /* waited for an interrupt */
	VMEXIT_HYPERCALL = 6,
	VMEXIT_KVM = 7,	 /* another of KVM's reasons, KVM_EXIT_* in linux/kvm.h */
	VMEXIT_WAIT = 8, /* waited in the kernel, but not for an interrupt: exit_wait */
};

/* What the kernel waited for, the detail of VMEXIT_WAIT. */
enum exit_wait {
	EXIT_WAIT_OTHER,
	EXIT_WAIT_PAGE,	     /* of the guest's memory, from a disk */
	EXIT_WAIT_USERFAULT, /* such a page, from another program (userfaultfd) */
	EXIT_WAIT_LOCK,	     /* in the kernel */
	EXIT_WAIT_MEMORY,    /* to be freed */
};

#define EXIT_MAX (((uint64_t)1 << 48) - 1)

static inline uint64_t exit_make(enum exit_kind kind, uint64_t detail)
{
	return kind | (detail << 4 & EXIT_MAX);
}

/* In reports only, the mark for an exit: the address that stands for it below the code
 * that was left. As with an interrupt, that code's address + 1 is its caller. */
#define CHAIN_EXIT	 0x4ffc000000000000
#define CHAIN_EXIT_IS(a) (((a) & ~EXIT_MAX) == CHAIN_EXIT)
#define EXIT_NAME_SIZE	 48
/* Writes why: "io out 0x3f8". */
void exit_reason(uint64_t exit, char text[EXIT_NAME_SIZE]);
/* Writes the name of an exit: "[exit: io out 0x3f8]". */
void exit_name(uint64_t exit, char name[EXIT_NAME_SIZE]);

/* Returns the name of a mark in reports; NULL if the address is not a mark. */
const char *chain_mark_name(uint64_t address);
/* Returns the mark with this name of @length characters; 0 if there is none. */
uint64_t chain_mark(const char *name, size_t length);

/* A call chain, leaf first: the sampled instruction, then return addresses. */
struct chain {
	uint64_t *address; /* room for CHAIN_ROOM */
	uint32_t count;
	enum chain_end end;
	/* address[1] is from the link register or the top of the stack, because the
	 * sampled function had no frame at the sampled instruction */
	bool frameless;
	/* not a chain, but a captured stack of at most STACK_CHAIN_MAX addresses */
	bool is_stack;
};

#define STACK_CHAIN_MAX 1024

/* Room for addresses while a chain is made: candidates for the outermost addresses follow
 * the CHAIN_MAX others. */
#define CHAIN_ROOM (CHAIN_MAX + CHAIN_OUTER)

static inline bool chain_is_equal(const struct chain *a, const struct chain *b)
{
	return a->end == b->end && a->count == b->count &&
	       memcmp(a->address, b->address, a->count * sizeof(*a->address)) == 0;
}

/* Returns whether callers are known to be missing. */
static inline bool chain_end_is_cut(unsigned int end)
{
	return end != CHAIN_WHOLE && end != CHAIN_UNKNOWN;
}

/* Returns whether a chain ends so where the register holds no frame pointer. */
static inline bool chain_end_is_stray(unsigned int end)
{
	return end == CHAIN_NOT_PRESENT || end == CHAIN_NOT_CANONICAL ||
	       end == CHAIN_NOT_ASCENDING || end == CHAIN_UNALIGNED ||
	       end == CHAIN_NOT_CALLED;
}

static inline bool chain_has_gap(const struct chain *chain)
{
	return chain->count == CHAIN_MAX &&
	       chain->address[CHAIN_MAX - CHAIN_OUTER - 1] == CHAIN_GAP;
}

static inline bool chain_is_interrupted(const struct chain *chain)
{
	for (uint32_t i = 0; i < chain->count; i++)
		if (chain->address[i] == CHAIN_INTERRUPT)
			return true;
	return false;
}

/* Return short human-readable names; "unknown" for other numbers. */
const char *chain_end_name(unsigned int end);
const char *unwind_way_name(unsigned int way);

#endif

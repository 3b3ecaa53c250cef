/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_UNWIND_UNWIND_H
#define UNIPROF_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/chain.h"
#include "unwind/table.h"

/*
 * Unwinds call chains frame by frame. Like arch/, these are pure functions over a guest's
 * pages: they never trust what they read, and take bounded time.
 */

#define CODE_NOTES  256
#define EXIT_NOTES  512
#define BLOCK_NOTES 128
#define RULE_NOTES  1024

/* Thumb: where the function that continues at an address saves its caller's registers. */
struct code_note {
	uint64_t ttbr0, ttbr1; /* the address space */
	uint32_t address, next, caller;
};

/* x86: how a function returns. */
enum x86_exit_kind {
	EXIT_BY_FRAME,	/* through its frame, or not known */
	EXIT_BY_STACK,	/* the return address is at caller */
	EXIT_IN_MAKING, /* EXIT_BY_STACK, and rbp still has the word at saved */
	EXIT_BY_CHANCE, /* perhaps EXIT_BY_STACK: the code jumps to an unknown target */
	/* to the interrupted code: iretq removes the frame at caller */
	EXIT_BY_INTERRUPT,
};

/* The base of the offsets of a return from an interrupt, if the code switches to another
 * stack before iretq. */
enum x86_exit_base {
	EXIT_FROM_SP,
	EXIT_FROM_FP,	/* the frame pointer */
	EXIT_FROM_WORD, /* the word on the stack at the offset word */
};

/* How a function returns, according to the code from one of its instructions on. Offsets
 * are bytes from the stack pointer there. */
struct x86_exit {
	enum x86_exit_kind kind;
	enum x86_exit_base base; /* EXIT_BY_INTERRUPT only */
	int32_t word;
	int32_t caller;
	/* The location of the caller's frame pointer, if not rbp. */
	bool has_saved;
	int32_t saved;
};

/* The exit from an address, and data to check that the code has not changed. */
struct exit_note {
	uint64_t space, address; /* space: root of the page tables */
	uint64_t code;		 /* the first bytes of code at the address */
	struct x86_exit exit;
};

/* The rule for an address, which is combined with the tables' serials in the key. */
struct rule_note {
	uint64_t key;
	const struct unwind_rule *rule; /* NULL: none */
};

/* A cache of facts about a guest's code. Starts zeroed. */
struct code_notes {
	unsigned int budget; /* for each chain: halfwords of code */
	uint32_t renewals;
	struct code_note note[CODE_NOTES];
	struct exit_note exit[EXIT_NOTES];   /* of sampled addresses */
	struct exit_note block[BLOCK_NOTES]; /* of code on long paths */
	struct rule_note rule[RULE_NOTES];
};

/*
 * Drops facts that may have become invalid because the guest's code changed, and resets
 * the budget. Notes on x86 code are checked against the code at each use, so they are
 * kept for a thousand renewals.
 */
void code_notes_renew(struct code_notes *notes);

struct return_notes;
struct x86_entries;

/* A part of a stack, as it was at some time. */
struct unwind_stack {
	uint64_t start; /* address of the first word */
	const uint64_t *word;
	unsigned int count;
};

/* The table for an address space. */
struct unwind_space {
	uint64_t space;			  /* cpu_space() */
	const struct unwind_table *table; /* NULL: that for all others */
};

/* A guest's memory, and known facts about its code. */
struct unwind_input {
	struct guest_memory memory;
	bool is_flat; /* memory.page() takes numbers of virtual pages */
	/* The other members may be NULL. */
	/* what the words of the stack are read from, instead of the memory, which may
	 * have changed since; x86 only */
	const struct unwind_stack *stack;
	struct code_notes *notes;
	const struct unwind_table *table;  /* rules for 64-bit code (unwind/table.h) */
	const struct unwind_space *spaces; /* those with other programs at one address */
	size_t space_count;
	const struct unwind_table *hypercalls; /* rules for Xen's hypercall page */
	const struct unwind_table *kernel;     /* rules that a Linux kernel has itself */
	const struct unwind_table *modules;    /* and those of its modules */
	const struct unwind_table *found; /* guesses for code that no file describes */
	uint64_t found_space; /* the address space whose programs they are for */
	const struct return_notes *returns; /* what tells right guesses from wrong ones */
	const struct x86_entries *entries;  /* return addresses in interrupts' entries */
};

/* Returns the table of the files for an address space; NULL if there is none. */
static inline const struct unwind_table *unwind_table_in(const struct unwind_input *input,
							 uint64_t space)
{
	for (size_t i = 0; i < input->space_count; i++)
		if (input->spaces[i].space == space && input->spaces[i].table)
			return input->spaces[i].table;
	return input->table;
}

/* Whether a file's table, not a guess, leads from the code at @address in the address
 * space @space to its caller, which may be code that an interrupt or a system call
 * stopped. */
static inline bool unwind_is_described(const struct unwind_input *input, uint64_t space,
				       uint64_t address)
{
	const struct unwind_table *table = unwind_table_in(input, space);

	return (table && unwind_table_find(table, address)) ||
	       (input->kernel && unwind_table_find(input->kernel, address)) ||
	       (input->modules && unwind_table_find(input->modules, address)) ||
	       (input->hypercalls && unwind_table_find(input->hypercalls, address));
}

/*
 * Fills @chain, which holds CHAIN_ROOM addresses, with the call chain of a vCPU. It
 * always contains the sampled address.
 */
void cpu_unwind(const struct cpu *cpu, const struct unwind_input *input,
		struct chain *chain);

/*
 * cpu_unwind() for x86. Follows the chain of frame pointers: each frame contains the
 * caller's frame pointer and, above it, the return address (System V ABI for x86-64,
 * section 3.2.2). If the sampled function has no frame, at all or at that point, its
 * return address is found from the code after the sampled instruction
 * (unwind/x86_exit.h), so that its direct caller is not missed. In 64-bit code, the
 * table's rules have priority over both.
 */
void x86_unwind(const struct x86_cpu *cpu, const struct unwind_input *input,
		struct chain *chain);

/*
 * x86-64: return addresses in the code that the CPU enters at interrupts and exceptions.
 * Frame pointers do not lead from there to the interrupted code, because the entry keeps
 * rbp. A return address in an entry is recognized by the code that follows, up to iretq.
 * Examining that code takes too long for a pause, so it is done afterwards. Starts
 * zeroed.
 */
#define X86_ENTRIES_MAX 32
#define X86_SEEN_MAX	4096
#define X86_MISSES_MAX	4096

struct x86_entries {
	unsigned int count;
	uint64_t filter; /* the bits x86_entry_bit() of addresses, and of their mark */
	struct x86_entry {
		uint64_t address; /* the return address */
		struct x86_exit exit;
	} entry[X86_ENTRIES_MAX];
	uint64_t seen[X86_SEEN_MAX]; /* hash table of examined addresses; 0: free */
	unsigned int misses; /* times that code was not there; at most X86_MISSES_MAX */
};

static inline unsigned int x86_entry_bit(uint64_t address)
{
	return (address ^ address >> 6) % 64;
}

/* Whether a chain has return addresses to examine. */
bool x86_entries_lack(const struct x86_entries *entries, const struct chain *chain);

/*
 * Examines up to X86_LEARN_MAX return addresses of a chain that are new, in the code that
 * @cpu has, while the guest runs; about X86_SEEN_MAX in all. Chains go on from a return
 * address in an entry if their unwind_input has @entries. True if the next chain may be
 * longer, or has more to examine.
 */
#define X86_LEARN_MAX 16
bool x86_entries_learn(struct x86_entries *entries, const struct x86_cpu *cpu,
		       const struct unwind_input *input, const struct chain *chain);

/*
 * Return addresses are without pointer authentication codes and without Thumb's bit 0.
 * unwind/arm64.c and unwind/arm32.c describe the layouts of frames. If the code after the
 * sampled instruction shows that the return address is in the link register, still or
 * again, it is taken from there.
 */
void arm_unwind(const struct arm_cpu *cpu, const struct unwind_input *input,
		struct chain *chain);

/* unwind/riscv.c describes the layout of frames. The link register is used as for ARM. */
void riscv_unwind(const struct riscv_cpu *cpu, const struct unwind_input *input,
		  struct chain *chain);

/*
 * Upper bounds of the guest_memory.page() calls in cpu_unwind(), for any guest contents.
 * For each frame after the first address, x86, AArch64 and RISC-V need two words; AArch32
 * needs words below and above the frame pointer and, if these don't determine the layout,
 * the code before two addresses; Thumb code needs the code before three addresses and
 * four words. To this add the sampled code (UNWIND_CODE_PAGES_MAX) and the starts of
 * Thumb functions (UNWIND_BACK_PAGES_MAX). x86 also needs the code of up to X86_EXITS_MAX
 * functions without frames, two words each of their stack, and the code before their
 * callers' addresses, in two pages. A frame by a rule of the table needs three words, and
 * two more if the rule is a guess. Beyond CHAIN_MAX addresses, up to CHAIN_STEPS, the
 * frames may be in UNWIND_DEEP_PAGES pages; one more frame may need further pages.
 */
#define UNWIND_DEEP_PAGES	     128
#define UNWIND_DEEP_PAGES_MAX(words) ((UNWIND_DEEP_PAGES + (words)) * READ_PAGES_MAX)
#define UNWIND_CODE_PAGES_MAX	     8
#define UNWIND_BACK_PAGES_MAX	     32
#define UNWIND_PAGES_MAX                                                         \
	((UNWIND_CODE_PAGES_MAX + UNWIND_BACK_PAGES_MAX + 8 * (CHAIN_MAX - 1)) * \
		 READ_PAGES_MAX +                                                \
	 UNWIND_DEEP_PAGES_MAX(8))
/* The maximum of notes.budget, which is also the budget without notes. */
#define CODE_BUDGET_MAX (UNWIND_BACK_PAGES_MAX * GUEST_PAGE_SIZE / 2)
#define X86_EXITS_MAX	2
#define X86_UNWIND_PAGES_MAX                                                       \
	((X86_EXITS_MAX * (UNWIND_CODE_PAGES_MAX + 2 + 2) + 2 * (CHAIN_MAX - 1)) * \
		 READ_PAGES_MAX +                                                  \
	 UNWIND_DEEP_PAGES_MAX(2))
/*
 * With entries in the input, chains continue through up to X86_INTERRUPTS_MAX interrupts,
 * and end at the next one. Each needs its frame and two more words, and the code that was
 * interrupted.
 */
#define X86_INTERRUPTS_MAX 4
#define X86_INTERRUPTS_PAGES_MAX               \
	(X86_INTERRUPTS_MAX * READ_PAGES_MAX * \
	 (4 + X86_EXITS_MAX * (UNWIND_CODE_PAGES_MAX + 2 + 2)))
#define ARM64_UNWIND_PAGES_MAX                                            \
	((UNWIND_CODE_PAGES_MAX + 2 * (CHAIN_MAX - 1)) * READ_PAGES_MAX + \
	 UNWIND_DEEP_PAGES_MAX(2))
#define RISCV_UNWIND_PAGES_MAX ARM64_UNWIND_PAGES_MAX
/* Upper bound with a table, which is not used for 32-bit code. */
#define X86_TABLE_PAGES_MAX   (X86_UNWIND_PAGES_MAX + CHAIN_MAX * READ_PAGES_MAX)
#define ARM64_TABLE_PAGES_MAX (ARM64_UNWIND_PAGES_MAX + CHAIN_MAX * READ_PAGES_MAX)
/* To be added for guesses. */
#define GUESS_PAGES_MAX (2 * CHAIN_MAX * READ_PAGES_MAX)

#endif

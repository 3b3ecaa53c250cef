/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_UNWIND_STACK_STACK_H
#define UNIPROF_UNWIND_STACK_STACK_H

#include "unwind/unwind.h"

/*
 * Stacks that are captured now, to be unwound later, on a machine that has the guest's
 * files. Three steps: while the guest is paused, its stack is copied; afterwards, only
 * the words that an unwinder may need are kept, as a chain; reports unwind that. For
 * 64-bit code of x86 and ARM.
 *
 * The chain (format/FORMAT.md, 5.3) has, from the innermost end: the sampled address, the
 * frame pointer, the link register (0 on x86), the stack pointer; then the kept words,
 * each with its distance from the next one up; last, the address of the uppermost one.
 * Stacks of equal callers end with equal words, so most words are shared in a recording's
 * tree of chains.
 */

/* Bytes below the stack pointer that leaf functions may use (System V ABI for x86-64,
 * section 3.2.2). */
#define STACK_RED_ZONE 128

/* Bytes above the stack pointer that are captured: default, and limits. */
#define STACK_BYTES	16384
#define STACK_BYTES_MIN 256
#define STACK_BYTES_MAX 65536

#define STACK_WORDS(bytes) (((bytes) + STACK_RED_ZONE) / 8)
#define STACK_PAGES_MAX	   ((STACK_BYTES_MAX + STACK_RED_ZONE) / GUEST_PAGE_SIZE + 2)

/* A stack, and the registers, at the time of the pause. */
struct stack_copy {
	uint64_t *word;	    /* room for STACK_WORDS(bytes) */
	unsigned int count; /* number of words; 0: nothing at the stack pointer */
	uint64_t start;	    /* address of the first word */
	uint64_t pc, fp, lr, sp;
	bool is_taken; /* false: the vCPU executed code of another kind than 64-bit */
};

/* Copies the stack up to @bytes above the stack pointer, or to the first page that is not
 * available. At most STACK_PAGES_MAX * READ_PAGES_MAX calls of guest_memory.page(). */
void stack_copy(const struct cpu *cpu, const struct guest_memory *memory,
		unsigned int bytes, struct stack_copy *copy);

/* Takes a copy of a vCPU's stack that exists already, up to @bytes above the stack
 * pointer. */
void stack_take(const struct cpu *cpu, const struct unwind_stack *stack,
		unsigned int bytes, struct stack_copy *copy);

/* Remembers which words point to code. */
struct stack_filter;

/* NULL if out of memory. */
struct stack_filter *stack_filter_new(void);
void stack_filter_free(struct stack_filter *filter);

/*
 * Makes a chain of at most STACK_CHAIN_MAX addresses of the copy. It keeps the words that
 * point into the stack, to code behind a call, or to code that an interrupt stopped.
 * @memory is for looking at that code; the guest may run.
 */
void stack_keep(struct stack_filter *filter, const struct cpu *cpu,
		const struct guest_memory *memory, const struct stack_copy *copy,
		struct chain *chain);

/* Memory to unwind such chains in. */
struct stack_replay;

/* NULL if out of memory. */
struct stack_replay *stack_replay_new(void);
void stack_replay_free(struct stack_replay *replay);

/*
 * Unwinds a chain of @count addresses, which stack_keep() made of a guest of this @kind,
 * by the tables; both may be NULL. @notes is a cache for the tables' rules, or NULL.
 * @chain holds CHAIN_ROOM addresses. It ends with CHAIN_NOT_CAPTURED where a word is
 * needed that was not kept. The chain may have any contents; of another kind of guest, or
 * too short, it has no callers.
 */
void stack_unwind(struct stack_replay *replay, enum cpu_kind kind,
		  const uint64_t *captured, uint32_t count,
		  const struct unwind_table *table, const struct unwind_table *hypercalls,
		  struct code_notes *notes, struct chain *chain);

/* The registers at the start of the chain. */
enum stack_register {
	STACK_PC,
	STACK_FP,
	STACK_LR,
	STACK_SP,
	STACK_REGISTERS
};

/* A kept word is an address whose upper 16 bits are equal. In a chain, the distance to
 * the next word up, in words, is XORed into all of these but the uppermost one. */
#define STACK_ADDRESS_BITS 48

static inline uint64_t stack_word_value(uint64_t word)
{
	uint64_t upper = -(word >> 63) << STACK_ADDRESS_BITS;

	return upper | (word & ((1ull << STACK_ADDRESS_BITS) - 1));
}

static inline uint64_t stack_word_distance(uint64_t word)
{
	return (word ^ stack_word_value(word)) >> STACK_ADDRESS_BITS;
}

static inline uint64_t stack_word(uint64_t value, uint64_t distance)
{
	return value ^ distance << STACK_ADDRESS_BITS;
}

#endif

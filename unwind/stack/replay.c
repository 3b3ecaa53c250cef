/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/stack/stack.h"

#include <stdlib.h>
#include <string.h>

#define WORD	   8
#define PAGE_WORDS (GUEST_PAGE_SIZE / WORD)

/* In place of a word that was not kept: in the last page of memory, where nothing is, and
 * above any frame. */
#define MISSING (-(uint64_t)GUEST_PAGE_SIZE)

struct stack_replay {
	uint64_t first;	    /* page number of the first page */
	unsigned int pages; /* number of pages with words of the chain */
	/* the stack; MISSING where the chain has no word */
	uint64_t word[STACK_PAGES_MAX * PAGE_WORDS];
	unsigned int set[STACK_CHAIN_MAX]; /* numbers of the words that are set */
	unsigned int set_count;
};

struct stack_replay *stack_replay_new(void)
{
	struct stack_replay *replay = calloc(1, sizeof(*replay));

	for (size_t i = 0; replay && i < STACK_PAGES_MAX * PAGE_WORDS; i++)
		replay->word[i] = MISSING;
	return replay;
}

void stack_replay_free(struct stack_replay *replay)
{
	free(replay);
}

static const void *replay_page(void *context, uint64_t frame)
{
	const struct stack_replay *replay = context;

	if (frame - replay->first >= replay->pages)
		return NULL;
	return replay->word + (frame - replay->first) * PAGE_WORDS;
}

/* Puts the words in their places, from the uppermost one down. Words outside of the
 * largest possible capture are left out. */
static void replay_fill(struct stack_replay *replay, const uint64_t *captured,
			uint32_t count)
{
	uint64_t start = (captured[STACK_SP] - STACK_RED_ZONE) & ~(uint64_t)(WORD - 1);
	uint64_t base = start & ~(uint64_t)(GUEST_PAGE_SIZE - 1);
	uint64_t at = captured[count - 1];
	unsigned int last = 0;

	replay->first = base / GUEST_PAGE_SIZE;
	for (uint32_t i = count - 2; i >= STACK_REGISTERS; i--) {
		uint64_t offset;

		/* The uppermost word has the distance 0. */
		at -= stack_word_distance(captured[i]) * WORD;
		offset = at - base;
		if (at % WORD || at < start || offset >= sizeof(replay->word))
			continue;
		replay->word[offset / WORD] = stack_word_value(captured[i]);
		replay->set[replay->set_count++] = (unsigned int)(offset / WORD);
		if (offset / WORD > last)
			last = (unsigned int)(offset / WORD);
	}
	replay->pages = replay->set_count ? last / PAGE_WORDS + 1 : 0;
}

static void replay_clear(struct stack_replay *replay)
{
	for (unsigned int i = 0; i < replay->set_count; i++)
		replay->word[replay->set[i]] = MISSING;
	replay->set_count = 0;
	replay->pages = 0;
}

/* A vCPU with the captured registers; all others are MISSING. */
static struct cpu cpu_of(enum cpu_kind kind, const uint64_t *captured)
{
	struct cpu cpu = {.family = CPU_FAMILY_X86};

	if (kind == CPU_X86_64) {
		for (unsigned int i = 0; i < X86_REGISTERS; i++)
			cpu.x86.reg[i] = MISSING;
		cpu.x86.rip = captured[STACK_PC];
		cpu.x86.reg[X86_RBP] = captured[STACK_FP];
		cpu.x86.reg[X86_RSP] = captured[STACK_SP];
		cpu.x86.cr0 = X86_CR0_PE | X86_CR0_PG;
		cpu.x86.cr4 = X86_CR4_PAE;
		cpu.x86.efer = X86_EFER_LMA;
		return cpu;
	}
	cpu.family = CPU_FAMILY_ARM;
	for (unsigned int i = 0; i < ARM_REGISTERS; i++)
		cpu.arm.x[i] = MISSING;
	cpu.arm.pc = captured[STACK_PC];
	cpu.arm.x[29] = captured[STACK_FP];
	cpu.arm.x[30] = captured[STACK_LR];
	cpu.arm.sp_el0 = cpu.arm.sp_el1 = captured[STACK_SP];
	/* 48 bits of address in both halves: T0SZ and T1SZ are 16 (Arm ARM, DDI 0487,
	 * section D17.2.131, issue J.a). */
	cpu.arm.tcr = 16 | 16 << 16;
	return cpu;
}

/* Ends the chain before the first address that was missing. */
static void chain_cut(struct chain *chain)
{
	uint32_t i = 1;

	if (chain->end == CHAIN_NO_PAGE)
		chain->end = CHAIN_NOT_CAPTURED;
	while (i < chain->count && chain->address[i] != MISSING)
		i++;
	if (i == chain->count)
		return;
	chain->count = i;
	chain->end = CHAIN_NOT_CAPTURED;
}

void stack_unwind(struct stack_replay *replay, enum cpu_kind kind,
		  const uint64_t *captured, uint32_t count,
		  const struct unwind_table *table, const struct unwind_table *hypercalls,
		  struct code_notes *notes, struct chain *chain)
{
	const struct unwind_input input = {
		.memory = {.page = replay_page, .context = replay},
		.is_flat = true,
		.notes = notes,
		.table = table,
		.hypercalls = hypercalls,
	};
	struct cpu cpu;

	if (count <= STACK_REGISTERS || count > STACK_CHAIN_MAX ||
	    !cpu_kind_has_tables(kind)) {
		chain->count = count ? 1 : 0;
		if (count)
			chain->address[0] = captured[STACK_PC];
		chain->end = CHAIN_NOT_CAPTURED;
		chain->frameless = chain->is_stack = false;
		return;
	}
	replay_fill(replay, captured, count);
	cpu = cpu_of(kind, captured);
	cpu_unwind(&cpu, &input, chain);
	chain_cut(chain);
	replay_clear(replay);
}

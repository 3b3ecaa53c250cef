/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Compares the cost of walks by a table and by frame pointers, on one stack, in
 * memory, of functions that have both. Prints ns per walk, the best of many, for some
 * depths and a table of 300,000 rows. walk [REPEATS]
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "arch/arch.h"
#include "tables/build.h"
#include "unwind/unwind.h"

#define FRAMES	 128 /* of memory */
#define PRESENT	 1ull
#define STACK	 0x10000ull /* in the first 2 MiB; all is mapped to frames of its number */
#define FRAME	 96	    /* bytes of a function's frame */
#define CODE	 0x400000ull
#define ROWS	 300000
#define ROW_SIZE 40 /* bytes of code per row */
#define WALKS	 100

static _Alignas(4096) uint64_t memory_words[FRAMES][GUEST_PAGE_SIZE / 8];

static const void *page(void *context, uint64_t frame)
{
	(void)context;
	return frame < FRAMES ? memory_words[frame] : NULL;
}

/* Tables in frames 1 to 4; the last one maps each page to the frame of its number. */
static void map_all(void)
{
	for (uint64_t i = 1; i < 4; i++)
		memory_words[i][0] = (i + 1) << GUEST_PAGE_SHIFT | PRESENT;
	for (uint64_t i = 0; i < 512; i++)
		memory_words[4][i] = i << GUEST_PAGE_SHIFT | PRESENT;
}

static uint64_t *word_at(uint64_t address)
{
	return &memory_words[address >> GUEST_PAGE_SHIFT][address % GUEST_PAGE_SIZE / 8];
}

/* Callers in different places of the code, as in a real program. */
static uint64_t caller(unsigned int i)
{
	return CODE + (i * 7919ull % ROWS) * ROW_SIZE + 7;
}

static struct x86_cpu make_stack(unsigned int depth)
{
	struct x86_cpu cpu = {
		.rip = caller(0),
		.cr0 = X86_CR0_PG,
		.cr3 = 1 << GUEST_PAGE_SHIFT,
		.cr4 = X86_CR4_PAE,
		.efer = X86_EFER_LMA,
	};
	uint64_t at = STACK + FRAME - 16;

	cpu.reg[X86_RSP] = STACK;
	cpu.reg[X86_RBP] = at;
	for (unsigned int i = 1; i <= depth; i++, at += FRAME) {
		*word_at(at) = i < depth ? at + FRAME : 0;
		*word_at(at + 8) = i < depth ? caller(i) : 0;
	}
	return cpu;
}

/* Without frame pointers. Neighbours differ, so that none are joined. */
static struct unwind_table *make_table(void)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct unwind_table *table;

	for (uint64_t i = 0; i < ROWS; i++) {
		struct unwind_rule rule = {
			.kind = UNWIND_CALLER,
			.cfa = FRAME,
			.caller = -8,
			.fp = i % 2 ? UNWIND_KEPT : -16,
		};

		if (unwind_builder_add(builder, CODE + i * ROW_SIZE,
				       CODE + (i + 1) * ROW_SIZE, &rule))
			exit(1);
	}
	table = unwind_builder_finish(builder);
	unwind_builder_free(builder);
	return table;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The best of many rounds, because other programs disturb them. */
static double measure(const struct x86_cpu *cpu, const struct unwind_input *input,
		      unsigned int repeats, unsigned int depth)
{
	uint64_t address[CHAIN_ROOM];
	struct chain chain = {.address = address};
	double best = 1e12;

	for (unsigned int round = 0; round < repeats; round++) {
		double start = now(), took;

		for (unsigned int i = 0; i < WALKS; i++)
			x86_unwind(cpu, input, &chain);
		took = (now() - start) / WALKS;
		if (took < best)
			best = took;
	}
	if (chain.count != (depth < CHAIN_MAX ? depth : CHAIN_MAX)) {
		printf("the chain has %u addresses\n", chain.count);
		exit(1);
	}
	return best;
}

int main(int count, char **arguments)
{
	unsigned int repeats = count > 1 ? (unsigned int)atoi(arguments[1]) : 300;
	static const unsigned int depths[] = {10, 60, 255, 2922, 4200};
	static struct code_notes notes;
	struct unwind_input input = {.memory.page = page, .notes = &notes};
	struct unwind_table *table = make_table();

	if (!table)
		return 1;
	code_notes_renew(&notes);
	map_all();
	for (unsigned int i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		struct x86_cpu cpu = make_stack(depths[i]);
		double frames, rules;

		input.table = NULL;
		frames = measure(&cpu, &input, repeats, depths[i]);
		input.table = table;
		rules = measure(&cpu, &input, repeats, depths[i]);
		printf("depth %u: %.0f ns by frame pointers, %.0f by a table of %zu "
		       "rows\n",
		       depths[i], frames, rules, unwind_table_rows(table));
	}
	unwind_table_free(table);
	return 0;
}

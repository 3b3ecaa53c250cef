/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_REPORT_TEST_CAPTURED_H
#define UNIPROF_TESTS_UNIT_REPORT_TEST_CAPTURED_H

/* Recordings of captured stacks. A file that includes this must define _GNU_SOURCE first.
 */

#include "tests/unit/report/test_outcome.h"

#include "unwind/stack/stack.h"

/* Addresses of all stacks, and of the callers. */
#define STACK	   0x7000000000ull
#define CALLER	   0x5000000ull /* caller of the sampled function, by its table */
#define FAR_CALLER 0x6000000ull /* further callers, by frame pointers */

/* The start of this program, which the linker defines. */
extern const char __executable_start[];

/* The sampled function, at its first instruction. */
static const uint64_t sampled = (uintptr_t)outcome_free;

static inline void begin_stack(struct chain *chain, uint64_t pc, uint64_t fp)
{
	chain->is_stack = true;
	chain->end = CHAIN_WHOLE;
	chain->count = STACK_REGISTERS;
	chain->address[STACK_PC] = pc;
	chain->address[STACK_FP] = fp;
	chain->address[STACK_LR] = 0;
	chain->address[STACK_SP] = STACK;
}

/* Appends a word of the stack at @address, above the others, of which the uppermost is at
 * *@last (unwind/stack/stack.h). */
static inline void put_word(struct chain *chain, uint64_t *last, uint64_t address,
			    uint64_t value)
{
	uint64_t *below = &chain->address[chain->count - 1];

	if (chain->count > STACK_REGISTERS)
		*below = stack_word(*below, (address - *last) / 8);
	chain->address[chain->count++] = value;
	*last = address;
}

/* Makes a stack with the caller on top, and @frames frames. */
static inline void make_stack(struct chain *chain, unsigned int frames, uint64_t *seed)
{
	uint64_t last = 0, at = STACK + 64;

	begin_stack(chain, sampled, at);
	put_word(chain, &last, STACK, CALLER);
	for (unsigned int i = 0; i < frames; i++, at += 64) {
		put_word(chain, &last, at, i + 1 < frames ? at + 64 : 0);
		put_word(chain, &last, at + 8, FAR_CALLER + random_next(seed) % 8);
	}
	chain->address[chain->count++] = last;
}

/* Samples, and a recording of them */
struct captured {
	struct samples samples;
	struct buffer bytes;
	int fd;
};

/* Takes over the samples; records @each in a chunk. */
static inline struct captured captured_of(struct samples samples, size_t each)
{
	struct captured captured = {.samples = samples};

	record(&captured.samples, each, &captured.bytes);
	captured.fd = file_with(captured.bytes.data, captured.bytes.size);
	return captured;
}

static inline void captured_free(struct captured *captured)
{
	close(captured->fd);
	samples_free(&captured->samples);
	buffer_free(&captured->bytes);
}

#endif

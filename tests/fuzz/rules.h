/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_FUZZ_RULES_H
#define UNIPROF_TESTS_FUZZ_RULES_H

#include <stdlib.h>
#include <string.h>

#include "tables/build.h"

#define RULES	    64
#define RULES_BYTES (RULES * 6)

/* A table with rules for the code around @address, made from the start of the guest's
 * memory: RULES_BYTES. */
static inline struct unwind_table *make_table(const uint8_t *memory, uint64_t address)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct unwind_table *table;
	int8_t byte[RULES_BYTES / RULES];

	if (!builder)
		abort();
	for (unsigned int i = 0; i < RULES; i++) {
		uint64_t start = address - 256 + 8 * i;
		struct unwind_rule rule;

		memcpy(byte, memory + i * sizeof(byte), sizeof(byte));
		rule = (struct unwind_rule){
			.kind = (uint8_t)byte[0] % 4,
			.from_fp = byte[1] & 1,
			.from_word = byte[1] & 2,
			.fp_by_register = byte[1] & 4,
			.word = byte[2] * 8,
			.cfa = byte[3] * 8,
			.caller = byte[1] & 8 ? UNWIND_KEPT : byte[4] * 8,
			.fp = byte[1] & 16 ? UNWIND_LOST : byte[5] * 8,
		};
		if (unwind_builder_add(builder, start, start + 8, &rule))
			abort();
	}
	table = unwind_builder_finish(builder);
	if (!table)
		abort();
	unwind_builder_free(builder);
	return table;
}

#endif

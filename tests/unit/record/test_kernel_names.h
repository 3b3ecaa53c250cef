/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_RECORD_TEST_KERNEL_NAMES_H
#define UNIPROF_TESTS_UNIT_RECORD_TEST_KERNEL_NAMES_H

#include <stdlib.h>
#include <string.h>

#include "record/linux/kallsyms_names.h"

/* Names in the form of kallsyms: each character is a token. The first one of a name is
 * its type. Kernels whose CPUs have their own low addresses have signed offsets. */
static inline struct kallsyms *make_names(const char *const *names,
					  const uint64_t *addresses, unsigned int count,
					  uint64_t base, bool is_signed)
{
	struct kallsyms *kallsyms = calloc(1, sizeof(*kallsyms));

	assert_non_null(kallsyms);
	for (unsigned int i = 0; i < KALLSYMS_TOKENS; i++) {
		kallsyms->token_at[i] = (uint16_t)(2 * i);
		kallsyms->token[2 * i] = (uint8_t)i;
	}
	kallsyms->symbols = count;
	kallsyms->markers = 1;
	kallsyms->marker = calloc(1, sizeof(*kallsyms->marker));
	kallsyms->offset = calloc(count, sizeof(*kallsyms->offset));
	kallsyms->name = malloc(count * 64);
	assert_true(kallsyms->marker && kallsyms->offset && kallsyms->name);
	kallsyms->base = base;
	kallsyms->is_signed = is_signed;
	for (unsigned int i = 0; i < count; i++) {
		size_t length = strlen(names[i]);
		uint32_t offset = (uint32_t)(addresses[i] - base);

		kallsyms->name[kallsyms->name_size++] = (uint8_t)length;
		memcpy(kallsyms->name + kallsyms->name_size, names[i], length);
		kallsyms->name_size += length;
		if (is_signed)
			offset = addresses[i] < base ? (uint32_t)addresses[i]
						     : -1 - offset;
		kallsyms->offset[i] = offset;
	}
	return kallsyms;
}

#endif

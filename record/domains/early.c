/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/domains/early.h"

#include "base/clock.h"

static bool has_table(const struct learning *learning)
{
	return learning_table(learning) || learning_kernel(learning) ||
	       code_search_table(&learning->code);
}

void early_begin(struct early *early, const struct learning *learning)
{
	early->has_table |= has_table(learning);
	early->is_open = !early->has_table && (learning->table.state == TABLE_PENDING ||
					       code_search_is_open(&learning->code));
}

void early_end(struct early *early, const struct learning *learning,
	       const struct round *round)
{
	/* A table of programs that has just been found was used for this round. */
	if (early->has_table || learning_table(learning))
		return;
	if (!early->first)
		early->first = round->time;
	early->samples += round->samples;
	if (!early->is_open || round->time - early->first > EARLY_NS)
		return;
	for (unsigned int i = 0; i < round->samples; i++) {
		struct chain *chain = &round->sample[i].chain;

		if (!chain->is_stack && chain_end_is_stray(chain->end))
			chain->end = CHAIN_EARLY;
	}
}

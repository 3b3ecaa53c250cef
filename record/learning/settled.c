/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/learning/settled.h"

#include <string.h>

#include "base/hash.h"

void settled_open(struct settled *settled)
{
	settled->seed = hash_seed();
	settled_forget(settled);
}

void settled_forget(struct settled *settled)
{
	memset(settled->chain, 0, sizeof(settled->chain));
}

static uint64_t hash_of(const struct settled *settled, const struct sample *sample)
{
	const struct chain *chain = &sample->chain;

	return hash_bytes(chain->address, chain->count * sizeof(*chain->address),
			  settled->seed ^ sample->process.space ^ chain->frameless);
}

bool settled_apply(struct settled *settled, struct sample *sample)
{
	uint64_t hash = hash_of(settled, sample);
	struct settled_chain *chain = &settled->chain[hash % SETTLED_CHAINS];

	if (chain->hash == hash && chain->before == sample->chain.end) {
		if (chain->is_settled)
			sample->chain.end = chain->after;
		return chain->is_settled;
	}
	*chain = (struct settled_chain){.hash = hash, .before = sample->chain.end};
	return false;
}

void settled_add(struct settled *settled, const struct sample *sample)
{
	uint64_t hash = hash_of(settled, sample);
	struct settled_chain *chain = &settled->chain[hash % SETTLED_CHAINS];

	if (chain->hash != hash || sample->chain.end == CHAIN_NOT_CALLED)
		return;
	chain->after = sample->chain.end;
	chain->is_settled = true;
}

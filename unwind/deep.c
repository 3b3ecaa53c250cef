/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/walk.h"

/* Returns address number @i of a chain in the making, which has the first CHAIN_MAX
 * addresses and, in a ring behind them, the last CHAIN_OUTER. */
static uint64_t chain_at(const struct chain *chain, unsigned int i)
{
	return chain->address[i < CHAIN_MAX ? i : CHAIN_MAX + i % CHAIN_OUTER];
}

/* Moves the last addresses of @count behind the first ones, with a gap between them. */
static void close_gap(struct chain *chain, unsigned int count)
{
	const unsigned int inner = CHAIN_MAX - CHAIN_OUTER;

	for (unsigned int i = 0; i < CHAIN_OUTER; i++)
		chain->address[inner + i] = chain_at(chain, count - CHAIN_OUTER + i);
	chain->address[inner - 1] = CHAIN_GAP;
}

/*
 * The outermost frames tell most of a recursion: which function began it. So the walk
 * goes on, but not without end: deep stacks have many frames in a page.
 */
void walk_deeper(struct walk *walk, enum step (*step)(struct walk *walk))
{
	struct chain *chain = walk->chain;
	unsigned int count = CHAIN_MAX, entered = walk->reader.entered;
	enum step taken;

	do {
		taken = step(walk);
		if (taken == STEP_END || taken == STEP_NONE)
			break;
		if (count == CHAIN_STEPS ||
		    walk->reader.entered - entered > UNWIND_DEEP_PAGES) {
			chain->end = CHAIN_TOO_DEEP;
			return;
		}
		chain->address[CHAIN_MAX + count % CHAIN_OUTER] = walk->state.pc;
		count++;
	} while (taken == STEP_CALLER);
	if (count > CHAIN_MAX)
		close_gap(chain, count);
}

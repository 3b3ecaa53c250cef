/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LEARNING_SETTLED_H
#define UNIPROF_RECORD_LEARNING_SETTLED_H

#include <stdbool.h>

#include "format/recording.h"

/*
 * Chains from which nothing more is learned for now. At high rates, most rounds have only
 * such chains, and need not be studied again.
 */

/* Number of chains that are remembered */
#define SETTLED_CHAINS 512

struct settled_chain {
	uint64_t hash;	       /* of the addresses and their address space */
	enum chain_end before; /* as found by unwinding */
	enum chain_end after;  /* as the study has left it */
	bool is_settled;
};

struct settled {
	uint64_t seed;
	struct settled_chain chain[SETTLED_CHAINS];
};

/* Starts with no chains. */
void settled_open(struct settled *settled);

/* If the sample's chain is settled, gives it the end that it had after the study, and
 * returns true. Otherwise remembers the chain, which is studied next. */
bool settled_apply(struct settled *settled, struct sample *sample);

/* Settles the sample's chain, which was studied, unless the study has shortened it. */
void settled_add(struct settled *settled, const struct sample *sample);

/* Forgets all chains. */
void settled_forget(struct settled *settled);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LEARNING_RETURNS_H
#define UNIPROF_RECORD_LEARNING_RETURNS_H

#include "guest/guest.h"
#include "record/sampling.h"
#include "unwind/returns.h"
#include "unwind/unwind.h"

/*
 * Examines addresses in the round's chains that are not known yet, a bounded number of
 * them: whether they are in executable memory behind a call. Chains end before one that
 * is not. Links of code that a file's table describes are not examined: they may be those
 * of interrupts. @input has the tables, and memory that maps pages; the guest runs.
 * Addresses whose pages can't be read stay unknown.
 */
void returns_learn(struct return_notes *notes, const struct guest *guest,
		   const struct unwind_input *input, struct round *round);

/*
 * Returns whether, in the address space @space, the call before chain->address[@i], which
 * is not the first, can't have led to the function at the address before it: the call is
 * of a function that is further up, or far away. A function that jumps to another one at
 * its end looks alike.
 */
bool returns_doubt(const struct return_notes *notes, uint64_t space,
		   const struct chain *chain, uint32_t i);

#endif

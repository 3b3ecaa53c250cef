/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LEARNING_STARTS_H
#define UNIPROF_RECORD_LEARNING_STARTS_H

#include "guest/guest.h"
#include "record/sampling.h"

/* What is known of the functions in which chains ended. Starts as zeros. */
#define START_NOTES 256
struct starts {
	unsigned int rounds;
	struct start_note {
		uint64_t space, address; /* root of the page tables; return address */
		bool is_known, is_start;
	} note[START_NOTES];
};

/*
 * Makes those of the round's chains whole that have no further frame and end in code that
 * starts a stack (arch/start.h). @memory maps pages; the guest runs. Code that was
 * examined lately is not read again.
 */
void starts_prove(struct starts *starts, const struct guest *guest,
		  const struct guest_memory *memory, struct round *round);

#endif

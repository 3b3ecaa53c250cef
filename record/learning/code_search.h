/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LEARNING_CODE_SEARCH_H
#define UNIPROF_RECORD_LEARNING_CODE_SEARCH_H

#include "guest/guest.h"
#include "record/learning/examiner.h"
#include "record/sampling.h"

/* The search for code in a guest's memory, for a guest whose code has no frame pointers.
 * Starts as zeros, but for the examiner and chains_min. */
struct code_search {
	struct examiner *examiner; /* examiner of the code; NULL: no code is looked for */
	struct found_code *found;  /* code found so far; NULL: none */
	unsigned int chains_min;   /* number of chains that decide whether to look */
	unsigned int chains;	   /* chains seen so far, until code is looked for */
	unsigned int short_chains; /* chains seen without callers by a frame pointer */
};

/* Drops the code, even if it is being examined. */
void code_search_free(struct code_search *search);

/* Returns the table of the code, which never changes and is valid until the next
 * code_search_run(); NULL if there is none. */
const struct unwind_table *code_search_table(const struct code_search *search);

/*
 * Takes over the table that the examiner has made and, if frame pointers are missing,
 * gives the examiner more code that the round's chains lead to. @memory maps pages. Sets
 * @round->found_code if that code is examined already. True if there is a new table.
 */
bool code_search_run(struct code_search *search, const struct guest *guest,
		     const struct guest_memory *memory, struct round *round);

/* Ends the round's chains before return addresses in found code that follow no call. */
void code_search_check(const struct code_search *search, struct round *round);

#endif

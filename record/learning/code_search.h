/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LEARNING_CODE_SEARCH_H
#define UNIPROF_RECORD_LEARNING_CODE_SEARCH_H

#include "guest/guest.h"
#include "record/learning/examiner.h"
#include "record/sampling.h"
#include "unwind/unwind.h"

/* A region of code, in which chains go astray. */
#define SEARCH_REGIONS 64
struct search_region {
	uint64_t number;  /* address divided by the region's size */
	unsigned int bad; /* chains that went astray there */
};

/* The search for code in a guest's memory, for code that has no frame pointers. Starts as
 * zeros, but for the examiner and chains_min. */
struct code_search {
	struct examiner *examiner; /* examiner of the code; NULL: no code is looked for */
	struct found_code *found;  /* code found so far; NULL: none */
	unsigned int chains_min;   /* number of chains that decide whether to look */
	unsigned int chains;	   /* chains seen lately */
	struct search_region region[SEARCH_REGIONS];
	/* The place around which code is read once no more pages of it appear: a guest's
	 * pages may be there only some rounds after they were asked for. */
	uint64_t place;	    /* 0: none */
	uint64_t space;	    /* address space of the place */
	bool is_asked;	    /* the place's pages were asked for */
	size_t pages;	    /* number of pages that were there in the last round */
	unsigned int waits; /* rounds without a vCPU in that address space */
	unsigned int turn;  /* number of the sample to begin with next time */
};

/* Drops the code, even if it is being examined. */
void code_search_free(struct code_search *search);

/* Returns the table of the code, which never changes and is valid until the next
 * code_search_run(); NULL if there is none. */
const struct unwind_table *code_search_table(const struct code_search *search);

/* Returns the address space whose programs' code is in the table. */
uint64_t code_search_space(const struct code_search *search);

/* Returns whether it is not decided yet whether the guest needs such a table, or the
 * first one is being made. */
bool code_search_is_open(const struct code_search *search);

/*
 * Takes over the table that the examiner has made, and gives the examiner more code:
 * where a good part of the chains lose their way. @input has the tables and memory that
 * maps pages. Sets @round->found_code if that code is examined already. True if there is
 * a new table.
 */
bool code_search_run(struct code_search *search, const struct guest *guest,
		     const struct unwind_input *input, struct round *round);

/* Whether the chain loses its way, as far as code in the guest's memory could help; never
 * without an examiner. */
bool code_search_is_astray(const struct code_search *search, const struct sample *sample,
			   const struct unwind_input *input);

/* Counts chains that do not lose their way, of a round without code_search_run(). */
void code_search_count(struct code_search *search, unsigned int chains);

/* Ends the round's chains before return addresses in found code that follow no call. */
void code_search_check(const struct code_search *search, const struct unwind_input *input,
		       struct round *round);

#endif

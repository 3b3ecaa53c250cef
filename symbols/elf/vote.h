/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_ELF_VOTE_H
#define UNIPROF_SYMBOLS_ELF_VOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/code.h"

/*
 * Where a program or kernel was loaded, if it was moved (PIE, KASLR), by what is known of
 * any system: a return address is behind a call. Each return address votes for all moves
 * by whole pages that put it behind a call of the file.
 */

/* Maximum number of return addresses that vote; more are ignored. */
#define VOTERS_MAX 256

/* The return addresses in the file's code, if the file is @shift bytes higher than it
 * says; sums wrap around. */
struct votes {
	uint64_t shift;
	uint32_t inside; /* return addresses in the code */
	uint32_t behind; /* return addresses behind a call */
	uint32_t next;	 /* return addresses behind a call at the next best move */
};

/* Counts the votes for one move; @next is 0. */
struct votes votes_count(const struct code *code, uint64_t shift,
			 const uint64_t *addresses, size_t count);

/*
 * Finds the move with most votes of different return @addresses. True if it is far ahead,
 * which chance does for one file in a million. Takes time in proportion to the code's
 * pages, up to 2^14 of them, after which further ranges of code are ignored.
 */
bool votes_find(const struct code *code, const uint64_t *addresses, size_t count,
		struct votes *votes);

/* Whether the file's place is right by these votes: enough of them, nearly all for it.
 * Fewer votes than for a move suffice, because few places are in question. */
bool votes_confirm(const struct votes *votes);

#endif

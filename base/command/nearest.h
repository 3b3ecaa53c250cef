/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_COMMAND_NEAREST_H
#define UNIPROF_BASE_COMMAND_NEAREST_H

#include <stddef.h>

/*
 * Finds the word that a mistyped one was meant to be: the one with the fewest changes,
 * each of which inserts, deletes or replaces a character, or swaps two neighbours.
 */
struct nearest {
	const char *typed;
	size_t length;	  /* length of the word, after which @typed may continue */
	const char *word; /* nearest word so far; NULL: none is near enough */
	size_t distance;  /* number of changes of @word */
};

/* Starts with the first @length characters of @typed, which must outlive @nearest. */
void nearest_start(struct nearest *nearest, const char *typed, size_t length);

/* Considers @word, which must outlive @nearest. Of equally near words, the first is kept.
 * A word is near if at most a third of the longer word's characters change, or if it or
 * what follows its '-' starts with at least three characters that were typed. */
void nearest_consider(struct nearest *nearest, const char *word);

#define NEAREST_HINT_SIZE 96

/* Writes "; did you mean '@prefixWORD'?", or nothing, to @hint, which holds
 * NEAREST_HINT_SIZE bytes. Returns @hint. */
const char *nearest_hint(const struct nearest *nearest, const char *prefix, char *hint);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_WORDS_H
#define UNIPROF_COMMANDS_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* The command line of a command that another command runs. Starts zeroed. The words
 * themselves are not owned. */
struct words {
	char **word; /* ends with NULL; NULL: there are no words */
	size_t count;
	bool is_cut; /* words are missing: out of memory */
};

void words_add(struct words *words, const char *word);

/* Adds an option and its value, unless @value is NULL. */
void words_add_option(struct words *words, const char *option, const char *value);

/* Adds an option without a value if @is_given. */
void words_add_flag(struct words *words, const char *option, bool is_given);

void words_free(struct words *words);

#endif

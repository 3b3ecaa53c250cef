/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/words.h"

#include <stdlib.h>

#include "base/array.h"

void words_add(struct words *words, const char *word)
{
	if (!array_grow(&words->word, words->count + 2, sizeof(*words->word))) {
		words->is_cut = true;
		return;
	}
	words->word[words->count++] = (char *)word;
	words->word[words->count] = NULL;
}

void words_add_option(struct words *words, const char *option, const char *value)
{
	if (!value)
		return;
	words_add(words, option);
	words_add(words, value);
}

void words_add_flag(struct words *words, const char *option, bool is_given)
{
	if (is_given)
		words_add(words, option);
}

void words_free(struct words *words)
{
	free(words->word);
	*words = (struct words){0};
}

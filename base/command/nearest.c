/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/command/nearest.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Maximum length of a word; no command and no option is longer */
#define LONGEST 32

/* Minimum length of a word that stands for all those that start with it */
#define SHORTEST_START 3

void nearest_start(struct nearest *nearest, const char *typed, size_t length)
{
	*nearest = (struct nearest){
		.typed = typed, .length = length, .distance = SIZE_MAX};
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Returns the number of changes that turn @a, of @m characters, into @b, of @n (at most
 * LONGEST): the "optimal string alignment" distance. row[i % 3][j] is the distance of
 * their first i and j characters.
 */
static size_t count_changes(const char *a, size_t m, const char *b, size_t n)
{
	size_t row[3][LONGEST + 1];

	for (size_t j = 0; j <= n; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= m; i++) {
		size_t *now = row[i % 3];
		const size_t *above = row[(i + 2) % 3], *second = row[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= n; j++) {
			now[j] = least(above[j], now[j - 1]) + 1;
			now[j] = least(now[j], above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				now[j] = least(now[j], second[j - 2] + 1);
		}
	}
	return row[m % 3][n];
}

/* Returns whether the word, or what follows a '-' in it, starts with what was typed. */
static bool is_start(const struct nearest *nearest, const char *word)
{
	if (nearest->length < SHORTEST_START)
		return false;
	while (word && strncmp(word, nearest->typed, nearest->length) != 0) {
		word = strchr(word, '-');
		if (word)
			word++;
	}
	return word;
}

void nearest_consider(struct nearest *nearest, const char *word)
{
	size_t length = strlen(word), longer, distance;

	if (length > LONGEST || nearest->length > LONGEST)
		return;
	longer = length > nearest->length ? length : nearest->length;
	distance = count_changes(nearest->typed, nearest->length, word, length);
	if (distance >= nearest->distance ||
	    (distance > longer / 3 && !is_start(nearest, word)))
		return;
	nearest->word = word;
	nearest->distance = distance;
}

const char *nearest_hint(const struct nearest *nearest, const char *prefix, char *hint)
{
	*hint = 0;
	if (nearest->word)
		snprintf(hint, NEAREST_HINT_SIZE, "; did you mean '%s%s'?", prefix,
			 nearest->word);
	return hint;
}

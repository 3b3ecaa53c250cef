/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/bench.h"

int series_new(struct series *series, const char *name, size_t capacity,
	       struct error *err)
{
	*series = (struct series){.name = name, .capacity = capacity};
	series->ns = calloc(capacity, sizeof(*series->ns));
	return series->ns ? 0 : error_set(err, "not enough memory");
}

void series_free(struct series *series)
{
	free(series->ns);
}

void series_add(struct series *series, uint64_t ns)
{
	series->ns[series->count++] = ns;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void series_print(struct series *series)
{
	qsort(series->ns, series->count, sizeof(*series->ns), compare);
	printf("%s %zu %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", series->name,
	       series->count, series->ns[series->count / 2],
	       series->ns[series->count * 99 / 100], series->ns[series->count - 1]);
}

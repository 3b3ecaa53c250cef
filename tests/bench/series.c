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
	return series->ns ? 0 : error_set(err, "out of memory");
}

void series_free(struct series *series)
{
	free(series->ns);
}

void series_add(struct series *series, uint64_t ns)
{
	series->ns[series->count++] = ns;
}

static int compare_spans(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void series_print(struct series *series)
{
	const uint64_t *ns = series->ns;
	size_t count = series->count, over = 0;

	qsort(series->ns, count, sizeof(*ns), compare_spans);
	while (over < count && ns[count - 1 - over] > 10 * ns[count / 2])
		over++;
	printf("%s %zu %" PRIu64 " %" PRIu64 " %" PRIu64 " %zu", series->name, count,
	       ns[count / 2], ns[count * 99 / 100], ns[count - 1], over);
	for (size_t i = 1; i <= SERIES_LONGEST && i <= count; i++)
		printf(" %" PRIu64, ns[count - i]);
	putchar('\n');
}

/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What tables from call frame information take: cfi FILE... Prints a line per file. Times
 * are CPU time, the best of several runs.
 */

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "symbols/code.h"
#include "symbols/source.h"
#include "tables/cfi/cfi.h"

#define RUNS	5
#define LOOKUPS 1000000
#define PLACES	64 /* of lookups that find everything in the caches */

struct result {
	struct cfi_summary summary;
	struct unwind_table *table;
	uint64_t code; /* bytes */
	double seconds, hot, random;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void table_make(const char *path, const struct symbols_source *source,
		       struct result *result)
{
	struct unwind_builder *builder = unwind_builder_new();
	double start = now(), took;
	struct error err;

	unwind_table_free(result->table);
	if (unwind_table_add_cfi(builder, path, source->data, source->size, 0,
				 &result->summary, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	result->table = unwind_builder_finish(builder);
	took = now() - start;
	if (!result->seconds || took < result->seconds)
		result->seconds = took;
	unwind_builder_free(builder);
}

/* The time of a lookup in ns, of @places random ones again and again. */
static double look_up(const struct unwind_table *table, const struct code *code,
		      uint64_t *places, unsigned int count)
{
	volatile uintptr_t sink = 0;
	double best = 1e9;

	for (unsigned int i = 0; i < count; i++) {
		const struct code_range *range =
			&code->list[(size_t)rand() % code->count];

		places[i] = range->address + (uint64_t)rand() % range->size;
	}
	for (unsigned int run = 0; run < RUNS; run++) {
		double start = now(), took;

		for (unsigned int i = 0; i < LOOKUPS; i++)
			sink += (uintptr_t)unwind_table_find(table, places[i % count]);
		took = (now() - start) * 1e9 / LOOKUPS;
		if (took < best)
			best = took;
	}
	return best;
}

static void print(const char *path, const struct result *result)
{
	double mb = (double)result->code / (1 << 20);
	size_t size, rows = unwind_table_rows(result->table);

	unwind_table_memory(result->table, &size);
	printf("%-60s %8.2f %9zu %9zu %7.1f %7.2f %8zu %8.2f %7.1f %7.1f\n", path, mb,
	       result->summary.functions, rows, (double)rows / mb / 1024,
	       (double)size / (double)rows, result->summary.unknown,
	       result->seconds * 1e3 / mb, result->hot, result->random);
}

static void measure(const char *path, uint64_t *places)
{
	struct symbols_source source;
	struct result result = {.table = NULL};
	struct error err;
	struct code code;

	if (symbols_source_open(&source, path, path, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	for (unsigned int i = 0; i < RUNS; i++)
		table_make(path, &source, &result);
	code_read(&code, source.data, source.size);
	for (size_t i = 0; i < code.count; i++)
		result.code += code.list[i].size;
	if (code.count) {
		result.hot = look_up(result.table, &code, places, PLACES);
		result.random = look_up(result.table, &code, places, LOOKUPS);
	}
	print(path, &result);
	code_free(&code);
	unwind_table_free(result.table);
	symbols_source_close(&source);
}

int main(int count, char **arguments)
{
	uint64_t *places = malloc(LOOKUPS * sizeof(*places));

	if (!places)
		return 1;
	printf("%-60s %8s %9s %9s %7s %7s %8s %8s %7s %7s\n", "file", "MB code",
	       "functions", "rows", "per KB", "bytes", "unknown", "ms/MB", "ns hot",
	       "ns cold");
	for (int i = 1; i < count; i++)
		measure(arguments[i], places);
	free(places);
	return 0;
}

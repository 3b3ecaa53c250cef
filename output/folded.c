/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collapsed stacks, as read by flame graph tools: a line for each distinct chain of
 * function names, outermost caller first, joined by ';', then a blank and the number of
 * samples or us. With several domains, the domain's name comes first. Lines are sorted by
 * chain (strcmp). If inverted, the sampled function is first and the outermost caller
 * last.
 */
#include "output/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/model/calls.h"

struct folded {
	const struct report *report;
	char *callers; /* the domain and the functions entered, each followed by ';' */
	size_t length, capacity;
	bool failed; /* out of memory */
};

static void *folded_begin(const struct report *report)
{
	struct folded *folded = calloc(1, sizeof(*folded));

	if (folded)
		folded->report = report;
	return folded;
}

static void folded_free(void *state)
{
	struct folded *folded = state;

	if (folded)
		free(folded->callers);
	free(folded);
}

static void put_line(void *arg, uint32_t function, uint64_t count)
{
	struct folded *folded = arg;
	FILE *out = folded->report->out;

	if (folded->failed || ferror_unlocked(out))
		return;
	if (folded->length)
		fwrite(folded->callers, 1, folded->length, out);
	fputs(frames_function_name(folded->report->frames, function), out);
	fprintf(out, " %" PRIu64 "\n", count);
}

static void add_name(struct folded *folded, uint32_t function)
{
	const char *name = frames_function_name(folded->report->frames, function);
	size_t length = strlen(name) + 1;

	if (folded->failed)
		return;
	if (folded->capacity - folded->length < length) {
		size_t capacity = (folded->length + length) * 2;

		folded->failed = !array_grow(&folded->callers, capacity, 1);
		if (folded->failed)
			return;
		folded->capacity = capacity;
	}
	memcpy(folded->callers + folded->length, name, length - 1);
	folded->length += length;
	folded->callers[folded->length - 1] = ';';
}

static void begin_domain(void *arg, uint32_t function)
{
	struct folded *folded = arg;

	folded->length = 0;
	if (report_shows_domains(folded->report))
		add_name(folded, function);
}

static void add_caller(void *arg, uint32_t function, uint64_t count)
{
	(void)count;
	add_name(arg, function);
}

static void drop_caller(void *arg, uint32_t function)
{
	struct folded *folded = arg;

	if (!folded->failed)
		folded->length -= strlen(frames_function_name(folded->report->frames,
							      function)) +
				  1;
}

static int folded_end(void *state)
{
	struct folded *folded = state;
	struct calls_visitor visitor = {put_line, begin_domain, add_caller, drop_caller,
					folded};
	struct calls *calls = calls_of(folded->report->stacks, folded->report->frames,
				       folded->report->view.invert);

	if (!calls)
		return -1;
	calls_walk(calls, &visitor);
	calls_free(calls);
	return folded->failed ? -1 : 0;
}

const struct output output_folded = {
	.name = "folded",
	.about = "collapsed stacks, for flamegraph.pl, speedscope, inferno",
	.can_invert = true,
	.counts_waits = true,
	.begin = folded_begin,
	.end = folded_end,
	.free = folded_free,
};

/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collapsed stacks with two counts, "a;b;c COUNT1 COUNT2", as difffolded.pl (Brendan
 * Gregg's FlameGraph) writes them and flamegraph.pl draws them.
 */
#include "report/diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The folded stacks of one profile, a line at a time. */
struct lines {
	FILE *file;
	char *line; /* without the count; NULL at the end */
	size_t room;
	uint64_t count;
	bool failed; /* it ended too early */
};

static void next_line(struct lines *lines)
{
	char *blank;

	if (getline(&lines->line, &lines->room, lines->file) < 0) {
		lines->failed = !feof(lines->file);
		free(lines->line);
		lines->line = NULL;
		return;
	}
	/* Names hold blanks, but the count is behind the last one. */
	blank = strrchr(lines->line, ' ');
	lines->count = strtoull(blank + 1, NULL, 10);
	*blank = 0;
}

/* Writes the stacks to a file of its own; -1 when that fails. */
static int open_lines(struct lines *lines, const struct diff *diff, enum diff_side side)
{
	struct report report = diff->reports[side];
	void *state;
	int status = -1;

	*lines = (struct lines){.file = tmpfile()};
	if (!lines->file)
		return -1;
	report.out = lines->file;
	/* The domains of both are named, or those of none. */
	report.domain_count = diff->has_domains ? 2 : 1;
	state = output_folded.begin(&report);
	if (state)
		status = output_folded.end(state);
	output_folded.free(state);
	if (status < 0 || fflush(lines->file) != 0 || ferror(lines->file))
		return -1;
	rewind(lines->file);
	next_line(lines);
	return 0;
}

static void close_lines(struct lines *lines)
{
	free(lines->line);
	if (lines->file)
		fclose(lines->file);
}

static uint64_t normalize(const struct diff *diff, uint64_t count)
{
	uint64_t from = diff->reports[DIFF_BASELINE].measure->total;
	uint64_t to = diff->reports[DIFF_NEW].measure->total;

	if (!diff->normalize || !from)
		return count;
	return (uint64_t)((unsigned __int128)count * to / from);
}

/* Both are in the same order (report/calls.h). */
static void join(const struct diff *diff, struct lines *baseline, struct lines *new)
{
	while (baseline->line || new->line) {
		int order = !baseline->line ? 1
			    : !new->line    ? -1
					    : strcmp(baseline->line, new->line);

		fprintf(diff->out, "%s %" PRIu64 " %" PRIu64 "\n",
			order > 0 ? new->line : baseline->line,
			order > 0 ? 0 : normalize(diff, baseline->count),
			order < 0 ? 0 : new->count);
		if (order <= 0)
			next_line(baseline);
		if (order >= 0)
			next_line(new);
	}
}

int diff_folded_write(const struct diff *diff)
{
	struct lines sides[DIFF_SIDES] = {0};
	int status = 0;

	for (int i = 0; i < DIFF_SIDES && status == 0; i++)
		status = open_lines(&sides[i], diff, (enum diff_side)i);
	if (status == 0)
		join(diff, &sides[DIFF_BASELINE], &sides[DIFF_NEW]);
	for (int i = 0; i < DIFF_SIDES; i++) {
		if (sides[i].failed)
			status = -1;
		close_lines(&sides[i]);
	}
	return status;
}

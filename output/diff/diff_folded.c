/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collapsed stacks with two counts, "a;b;c COUNT1 COUNT2", as difffolded.pl (Brendan
 * Gregg's FlameGraph) writes them and flamegraph.pl draws them.
 */
#include "output/diff/diff.h"
#include "output/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/write/outfile.h"

/* The folded stacks of one profile, a line at a time. */
struct lines {
	struct spool spool;
	char *line; /* without the count; NULL at the end */
	size_t room;
	uint64_t count;
	bool failed; /* an error ended the lines */
};

static void next_line(struct lines *lines)
{
	char *blank;

	if (getline(&lines->line, &lines->room, lines->spool.in) < 0) {
		lines->failed = !feof(lines->spool.in);
		free(lines->line);
		lines->line = NULL;
		return;
	}
	/* Names can contain blanks; the count follows the last one. */
	blank = strrchr(lines->line, ' ');
	lines->count = strtoull(blank + 1, NULL, 10);
	*blank = 0;
}

/* Writes the stacks to a temporary file; -1 on error. */
static int open_lines(struct lines *lines, const struct diff *diff, enum diff_side side)
{
	const struct output *folded = output_find("folded");
	struct report report = diff->reports[side];
	void *state;
	int status = -1;

	if (spool_open(&lines->spool, NULL, report.why) < 0)
		return -1;
	report.out = lines->spool.out;
	/* Domains are named on both sides, or on neither. */
	report.view.shows_domains = diff->has_domains;
	state = folded->begin(&report);
	if (state)
		status = folded->end(state);
	folded->free(state);
	if (status < 0 || spool_read(&lines->spool, report.why) < 0)
		return -1;
	next_line(lines);
	return 0;
}

static void close_lines(struct lines *lines)
{
	free(lines->line);
	spool_close(&lines->spool);
}

static uint64_t normalized(const struct diff *diff, uint64_t count)
{
	uint64_t from = diff->reports[DIFF_BASELINE].measure->total;
	uint64_t to = diff->reports[DIFF_NEW].measure->total;

	if (!diff->normalize || !from)
		return count;
	return (uint64_t)((unsigned __int128)count * to / from);
}

/* Writes the stacks of both sides, which are in one order (report/model/calls.h). */
static void join_sides(const struct diff *diff, struct lines *baseline, struct lines *new)
{
	while (baseline->line || new->line) {
		int order = !baseline->line ? 1
			    : !new->line    ? -1
					    : strcmp(baseline->line, new->line);

		fprintf(diff->out, "%s %" PRIu64 " %" PRIu64 "\n",
			order > 0 ? new->line : baseline->line,
			order > 0 ? 0 : normalized(diff, baseline->count),
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
		join_sides(diff, &sides[DIFF_BASELINE], &sides[DIFF_NEW]);
	for (int i = 0; i < DIFF_SIDES; i++) {
		if (sides[i].failed) {
			spool_check(&sides[i].spool, diff->reports[i].why);
			status = -1;
		}
		close_lines(&sides[i]);
	}
	return status;
}

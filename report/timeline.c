/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When each vCPU was busy, as subsecond-offset heat maps for web browsers (Gregg,
 * "Visualizing System Latency", CACM 53/7, 2010, and FlameScope): a column is a second,
 * its cells are the parts of that second from bottom to top, and a cell is the darker
 * the more samples fell there. There's a map for each vCPU of each domain; domains of
 * one name are one. No script: hover texts are titles.
 *
 * What is shown are samples of vCPUs that were not blocked, unless the report is of
 * blocked ones only.
 *
 * Recordings come through pipes and may be of any length, so columns begin as seconds and
 * are made wider whenever there would be too many.
 */
#include "report/output.h"

#include <stdlib.h>

#include "report/timeline_svg.h"

#define SECOND 1000000000u

struct timeline {
	const struct report *report;
	struct timeline_grid grid;
	struct tree index;		   /* one root; the keys: domain and vCPU */
	uint32_t domains[TIMELINE_PANELS]; /* by panel: the domain's index */
};

static void *timeline_begin(const struct report *report)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return NULL;
	timeline->report = report;
	if (tree_init(&timeline->index, 1) == 0)
		return timeline;
	free(timeline);
	return NULL;
}

static void timeline_free(void *state)
{
	struct timeline *timeline = state;

	if (!timeline)
		return;
	tree_free(&timeline->index);
	for (uint32_t i = 0; i < timeline->grid.panel_count; i++)
		free(timeline->grid.panels[i].cells);
	free(timeline);
}

/* As many cells to a second as have two samples each at the wanted rate. */
static unsigned int choose_rows(const struct summary *summary)
{
	static const unsigned int choices[] = {50, 25, 20, 10, 5, 2};
	uint64_t frequency = summary->info.frequency;

	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (!frequency || choices[i] * 2000 <= frequency)
			return choices[i];
	return 1;
}

static void start(struct timeline *timeline, uint64_t time)
{
	const struct summary *summary = timeline->report->summary;
	struct timeline_grid *grid = &timeline->grid;

	grid->start = time;
	if (summary->has_info && summary->info.monotonic_start < time)
		grid->start = summary->info.monotonic_start;
	grid->rows = choose_rows(summary);
	grid->seconds = 1;
	grid->columns = 1;
}

static uint32_t most_columns(const struct timeline_grid *grid)
{
	uint32_t most = TIMELINE_CELLS / (grid->rows * grid->panel_count);

	return most < TIMELINE_COLUMNS ? most : TIMELINE_COLUMNS;
}

/* Makes the columns of the next width. */
static void coarsen(struct timeline_grid *grid)
{
	uint64_t seconds = timeline_next_step(grid->seconds);
	uint32_t factor = (uint32_t)(seconds / grid->seconds);
	uint32_t count = TIMELINE_COLUMNS * grid->rows;

	for (uint32_t i = 0; i < grid->panel_count; i++) {
		struct timeline_cell *cells = grid->panels[i].cells;

		for (uint32_t j = 1; j < count; j++) {
			struct timeline_cell cell = cells[j];

			cells[j] = (struct timeline_cell){0};
			cells[j / factor].shown += cell.shown;
			cells[j / factor].all += cell.all;
		}
	}
	grid->seconds = seconds;
	grid->columns = (grid->columns - 1) / factor + 1;
}

/* The sample's panel; NULL, with @failed or without, when it gets none. */
static struct timeline_panel *find_panel(struct timeline *timeline,
					 const struct output_sample *sample, bool *failed)
{
	struct timeline_grid *grid = &timeline->grid;
	uint32_t node = tree_intern(&timeline->index, 0,
				    (uint64_t)sample->domain << 32 | sample->vcpu);
	uint32_t number = node - 1;
	struct timeline_panel *panel;

	*failed = node == TREE_NONE;
	if (*failed || number >= TIMELINE_PANELS)
		return NULL;
	panel = &grid->panels[number];
	if (number < grid->panel_count)
		return panel;
	panel->cells = calloc((size_t)TIMELINE_COLUMNS * grid->rows,
			      sizeof(*panel->cells));
	*failed = !panel->cells;
	if (*failed)
		return NULL;
	panel->vcpu = sample->vcpu;
	timeline->domains[number] = sample->domain;
	grid->panel_count++;
	while (grid->columns > most_columns(grid))
		coarsen(grid);
	return panel;
}

static int timeline_sample(void *arg, const struct output_sample *sample)
{
	struct timeline *timeline = arg;
	struct timeline_grid *grid = &timeline->grid;
	enum measure_states shown = timeline_states(timeline->report->measure);
	struct timeline_panel *panel;
	struct timeline_cell *cell;
	uint64_t offset, width;
	unsigned int state;
	bool failed;

	if (!grid->rows)
		start(timeline, sample->time);
	panel = find_panel(timeline, sample, &failed);
	if (!panel) {
		grid->left_out += sample->count;
		return failed ? -1 : 0;
	}
	/* Times may go backwards: to before the first one, too. */
	offset = sample->time > grid->start ? sample->time - grid->start : 0;
	while (offset / SECOND / grid->seconds >= most_columns(grid))
		coarsen(grid);
	width = grid->seconds * (SECOND / grid->rows);
	if (offset / width / grid->rows >= grid->columns)
		grid->columns = (uint32_t)(offset / width / grid->rows) + 1;
	cell = &panel->cells[offset / width];
	cell->all += sample->count;
	state = sample->state < SUMMARY_STATES ? sample->state : VCPU_UNKNOWN;
	if (shown & 1u << state)
		cell->shown += sample->count;
	return 0;
}

/* Adds the panels of later domains of the same name to those of the first. */
static int merge_panels(struct timeline *timeline)
{
	struct timeline_grid *grid = &timeline->grid;
	struct frames *frames = timeline->report->frames;
	uint32_t names[TIMELINE_PANELS], kept = 0;

	for (uint32_t i = 0; i < grid->panel_count; i++) {
		struct timeline_panel panel = grid->panels[i];
		uint32_t name = frames_domain(frames, timeline->domains[i]), same = 0;

		if (name == FRAMES_NONE)
			return -1;
		while (same < kept &&
		       (names[same] != name || grid->panels[same].vcpu != panel.vcpu))
			same++;
		if (same == kept) {
			panel.domain = frames_function_name(frames, name);
			names[kept] = name;
			/* Swapped, so that each panel's cells are freed. */
			grid->panels[i] = grid->panels[kept];
			grid->panels[kept++] = panel;
			continue;
		}
		for (uint32_t j = 0; j < TIMELINE_COLUMNS * grid->rows; j++) {
			grid->panels[same].cells[j].shown += panel.cells[j].shown;
			grid->panels[same].cells[j].all += panel.cells[j].all;
		}
	}
	grid->shown_panels = kept;
	return 0;
}

static int timeline_end(void *state)
{
	struct timeline *timeline = state;

	if (merge_panels(timeline) < 0)
		return -1;
	timeline_svg_write(timeline->report, &timeline->grid);
	return 0;
}

const struct output output_timeline = {
	.name = "timeline",
	.about = "when each vCPU was busy: SVG heat maps, for a web browser",
	.begin = timeline_begin,
	.sample = timeline_sample,
	.end = timeline_end,
	.free = timeline_free,
};

/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When each vCPU was busy, as subsecond-offset heat maps for web browsers (Gregg,
 * "Visualizing System Latency", CACM 53/7, 2010, and FlameScope): a column is a second,
 * its cells are the parts of that second from bottom to top, and a cell is darker the
 * larger the share of its rounds, or of its time, in which the vCPU was not blocked (or
 * that the report selects). There is a map for each vCPU of each domain; domains of the
 * same name are merged. There is no script: hover texts are titles.
 *
 * A sample is spread over the time it stands for, so that a lowered rate leaves no gaps:
 * the rounds it stands for, at most back to the vCPU's last sample; or all the time since
 * that, if samples count time. Missed rounds stay blank.
 *
 * Of waits, there is a map for each thread: a cell is darker the longer the thread waited
 * in it. Before its first wait and after its last one, nothing is known of it.
 *
 * Recordings can be read from pipes and be of any length, so columns start as seconds and
 * are widened whenever there would be too many.
 */
#include "output/output.h"

#include <stdlib.h>

#include "output/timeline_svg.h"

#define SECOND 1000000000u

struct timeline {
	const struct report *report;
	struct timeline_grid grid;
	uint64_t width; /* time that a cell covers, ns */
	uint32_t room;	/* number of cells that each panel may use */
	uint32_t cell;	/* cell of the last sample, which is most often the next sample's,
			   too */
	uint64_t cell_start; /* start of the last sample's cell, ns since the grid's start
			      */
	uint64_t rounds;     /* sum of all rounds so far */
	struct tree index;   /* one root; the keys: domain and vCPU */
	/* By panel: */
	uint32_t domains[TIMELINE_PANELS]; /* domain's index */
	uint64_t last[TIMELINE_PANELS];	   /* the latest sample, ns since the start */
	bool is_met[TIMELINE_PANELS];
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

static bool shows_waits(const struct timeline *timeline)
{
	return timeline->report->measure->weight == MEASURE_WAIT;
}

/* Returns the number of cells per second in which each cell has two samples, or looks at
 * threads, at the requested rate. */
static unsigned int choose_rows(const struct timeline *timeline)
{
	static const unsigned int choices[] = {50, 25, 20, 10, 5, 2};
	const struct summary *summary = timeline->report->summary;
	uint64_t frequency = summary->info.frequency, period = summary->waits.period;

	if (shows_waits(timeline))
		frequency = period ? 1000 * (uint64_t)SECOND / period : 0;
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (!frequency || choices[i] * 2000 <= frequency)
			return choices[i];
	return 1;
}

static uint32_t most_columns(const struct timeline_grid *grid)
{
	uint32_t most = TIMELINE_CELLS / (grid->rows * grid->panel_count);

	return most < TIMELINE_COLUMNS ? most : TIMELINE_COLUMNS;
}

/* Widens the columns to the next width. */
static void grid_coarsen(struct timeline_grid *grid)
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

static void grid_start(struct timeline *timeline, uint64_t time)
{
	const struct summary *summary = timeline->report->summary;
	struct timeline_grid *grid = &timeline->grid;

	grid->start = time;
	if (summary->has_info && summary->info.monotonic_start < time)
		grid->start = summary->info.monotonic_start;
	grid->rows = choose_rows(timeline);
	grid->seconds = 1;
	grid->columns = 1;
}

/* Sets what depends on the number of panels and the width of the columns. */
static void set_cells(struct timeline *timeline)
{
	const struct timeline_grid *grid = &timeline->grid;

	timeline->width = grid->seconds * (SECOND / grid->rows);
	timeline->room = most_columns(grid) * grid->rows;
	timeline->cell = 0;
	timeline->cell_start = 0;
}

/* Returns the sample's panel; NULL if there is none or, with *@failed set, if out of
 * memory. */
static struct timeline_panel *
find_panel(struct timeline *timeline, const struct counted_sample *sample, bool *failed)
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
		grid_coarsen(grid);
	set_cells(timeline);
	return panel;
}

/* Returns the part of @count that lies within the first @part of @whole, rounded down. */
static uint64_t share_of(uint64_t count, uint64_t part, uint64_t whole)
{
	return (uint64_t)((unsigned __int128)count * part / whole);
}

/* Spreads a sample's weight over the cells between two times since the start. */
static void spread_weight(uint64_t width, struct timeline_cell *cells, uint64_t from,
			  uint64_t to, struct timeline_cell sum)
{
	uint64_t length = to - from;
	struct timeline_cell given = {0};

	for (uint64_t i = from / width; i < to / width && length; i++) {
		uint64_t part = (i + 1) * width - from;
		uint64_t shown = share_of(sum.shown, part, length);
		uint64_t all = share_of(sum.all, part, length);

		cells[i].shown += shown - given.shown;
		cells[i].all += all - given.all;
		given = (struct timeline_cell){shown, all};
	}
	cells[to / width].shown += sum.shown - given.shown;
	cells[to / width].all += sum.all - given.all;
}

/* Returns the start of the time that a sample stands for; all times are ns since the
 * grid's start. */
static uint64_t begin_of(const struct timeline *timeline, uint32_t panel, uint64_t time,
			 uint64_t rounds)
{
	uint64_t last = timeline->is_met[panel] ? timeline->last[panel] : 0;
	/* Rounds in 1,000 s */
	uint64_t frequency = timeline->report->summary->info.frequency;
	unsigned __int128 length = (unsigned __int128)(rounds - 1) * 1000 * SECOND;

	/* Times may go backwards. */
	if (time < last)
		return time;
	if (measure_is_time(timeline->report->measure))
		return timeline->is_met[panel] ? last : time;
	if (!frequency || rounds == 1 || measure_is_event(timeline->report->measure))
		return time;
	/* The quotient below has 64 bits only if it is less than time - last. */
	if (length >= (unsigned __int128)(time - last) * frequency)
		return last;
	return time - (uint64_t)(length / frequency);
}

/* Returns the sample's weight in a time of @length ns. */
static struct timeline_cell
amount_of(struct timeline *timeline, const struct counted_sample *sample, uint64_t length)
{
	const struct measure *measure = timeline->report->measure;
	uint64_t left = MEASURE_MOST - timeline->rounds;
	unsigned int state = sample->state < SUMMARY_STATES ? sample->state
							    : VCPU_UNKNOWN;
	struct timeline_cell sum = {.all = sample->rounds < left ? sample->rounds : left};

	timeline->rounds += sum.all;
	if (timeline_states(measure) & 1u << state)
		sum.shown = sample->count;
	if (measure_is_time(measure))
		sum.all = length / 1000 > sample->count ? length / 1000 : sample->count;
	return sum;
}

/* Returns the part of the sample's weight @sum at its own time: one of its rounds. */
static struct timeline_cell own_part(const struct timeline *timeline,
				     struct timeline_cell sum, uint64_t rounds)
{
	if (measure_is_time(timeline->report->measure))
		return (struct timeline_cell){0};
	return (struct timeline_cell){sum.shown / rounds, sum.all / rounds};
}

/* Returns the cell of @time. Adds columns up to it, or widens all columns if there would
 * be too many. */
static uint32_t grid_reach(struct timeline *timeline, uint64_t time)
{
	struct timeline_grid *grid = &timeline->grid;
	uint32_t column;

	if (time - timeline->cell_start < timeline->width)
		return timeline->cell;
	while (time / timeline->width >= timeline->room) {
		grid_coarsen(grid);
		set_cells(timeline);
	}
	timeline->cell = (uint32_t)(time / timeline->width);
	timeline->cell_start = timeline->cell * timeline->width;
	column = timeline->cell / grid->rows;
	if (column >= grid->columns)
		grid->columns = column + 1;
	return timeline->cell;
}

/* Adds a sample that stands for a time of several cells. */
static void spread_sample(const struct timeline *timeline, struct timeline_cell *cells,
			  uint64_t from, uint64_t time, uint64_t rounds,
			  struct timeline_cell sum)
{
	struct timeline_cell own = own_part(timeline, sum, rounds);

	cells[time / timeline->width].shown += own.shown;
	cells[time / timeline->width].all += own.all;
	sum.shown -= own.shown;
	sum.all -= own.all;
	spread_weight(timeline->width, cells, from, time, sum);
}

static int timeline_sample(void *arg, const struct counted_sample *sample)
{
	struct timeline *timeline = arg;
	struct timeline_grid *grid = &timeline->grid;
	struct timeline_panel *panel;
	struct timeline_cell sum;
	uint32_t number, cell;
	uint64_t time, from;
	bool failed;

	if (!grid->rows)
		grid_start(timeline, sample->time);
	panel = find_panel(timeline, sample, &failed);
	if (!panel) {
		grid->left_out += sample->count;
		return failed ? -1 : 0;
	}
	number = (uint32_t)(panel - grid->panels);
	/* Times may go backwards, even to before the first one. */
	time = sample->time > grid->start ? sample->time - grid->start : 0;
	cell = grid_reach(timeline, time);
	from = begin_of(timeline, number, time, sample->rounds);
	sum = amount_of(timeline, sample, time - from);
	if (from >= timeline->cell_start) {
		panel->cells[cell].shown += sum.shown;
		panel->cells[cell].all += sum.all;
	} else {
		spread_sample(timeline, panel->cells, from, time, sample->rounds, sum);
	}
	if (!timeline->is_met[number] || time > timeline->last[number])
		timeline->last[number] = time;
	timeline->is_met[number] = true;
	return 0;
}

/* Spreads a thread's time from @from to @to, ns since the start, over its panel. */
static void spread_time(const struct timeline *timeline, struct timeline_panel *panel,
			uint64_t from, uint64_t to, bool waits)
{
	uint64_t length = to / 1000 - from / 1000;

	spread_weight(timeline->width, panel->cells, from, to,
		      (struct timeline_cell){waits ? length : 0, length});
}

static int timeline_wait(void *arg, const struct counted_wait *wait)
{
	struct timeline *timeline = arg;
	struct timeline_grid *grid = &timeline->grid;
	const struct counted_sample sample = {.domain = wait->domain};
	struct timeline_panel *panel;
	uint64_t from, to, last;
	uint32_t number;
	bool failed;

	if (!grid->rows)
		grid_start(timeline, wait->from);
	panel = find_panel(timeline, &sample, &failed);
	if (!panel) {
		grid->left_out += wait->count;
		return failed ? -1 : 0;
	}
	number = (uint32_t)(panel - grid->panels);
	from = wait->from > grid->start ? wait->from - grid->start : 0;
	to = wait->to > grid->start ? wait->to - grid->start : 0;
	last = timeline->is_met[number] ? timeline->last[number] : from;
	grid_reach(timeline, to);
	if (from > last)
		spread_time(timeline, panel, last, from, false);
	spread_time(timeline, panel, from, to, true);
	timeline->last[number] = to > last ? to : last;
	timeline->is_met[number] = true;
	return 0;
}

/* Merges the panels of domains that have one name. */
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
	.about = "when each vCPU was busy: SVG heat maps for web browsers",
	.sees_all = true,
	.one_recording = true,
	.lacks_functions = true,
	.for_browsers = true,
	.counts_waits = true,
	.splits_waits = true,
	.begin = timeline_begin,
	.sample = timeline_sample,
	.wait = timeline_wait,
	.end = timeline_end,
	.free = timeline_free,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/histogram.h"

#include <stdlib.h>
#include <string.h>

#include "report/calls.h"

/* The samples of one vCPU, by function. */
struct column {
	uint64_t *self;
	uint32_t room;
};

struct histogram {
	const struct report *report;
	struct column *columns; /* by vCPU */
	uint32_t column_count;
	uint32_t *vcpus; /* those that have samples */
	uint32_t vcpu_count;
	struct histogram_row *rows;
	uint32_t row_count;
	uint64_t *cells; /* the rows' vcpus */
};

/* What the walk through the calls fills. */
struct tally {
	const struct frames *frames;
	struct histogram_row *rows; /* by function; all without a name are row 0 */
	uint32_t *on_path;	    /* by row: how often it is among the callers */
};

void *histogram_begin(const struct report *report)
{
	struct histogram *histogram = calloc(1, sizeof(*histogram));

	if (histogram)
		histogram->report = report;
	return histogram;
}

void histogram_free(void *state)
{
	struct histogram *histogram = state;

	if (!histogram)
		return;
	for (uint32_t i = 0; i < histogram->column_count; i++)
		free(histogram->columns[i].self);
	free(histogram->columns);
	free(histogram->vcpus);
	free(histogram->rows);
	free(histogram->cells);
	free(histogram);
}

static uint32_t row_of(const struct frames *frames, uint32_t function)
{
	return frames_function_known(frames, function) ? function : 0;
}

static struct column *column_of(struct histogram *histogram, uint32_t vcpu)
{
	uint32_t count = vcpu + 1;
	struct column *columns;

	if (vcpu < histogram->column_count)
		return &histogram->columns[vcpu];
	columns = realloc(histogram->columns, count * sizeof(*columns));
	if (!columns)
		return NULL;
	memset(columns + histogram->column_count, 0,
	       (count - histogram->column_count) * sizeof(*columns));
	histogram->columns = columns;
	histogram->column_count = count;
	return &columns[vcpu];
}

/* The function that was running. */
static uint32_t sampled_function(const struct report *report, uint32_t stack)
{
	uint32_t frame;

	if (stack < SAMPLES_ROOTS)
		return FRAMES_EMPTY_CHAIN;
	frame = frames_find(report->frames, report->stacks->tree.nodes[stack].key,
			    FRAME_LEAF);
	return frame == FRAMES_NONE ? UINT32_MAX
				    : frames_get(report->frames, frame)->function;
}

int histogram_sample(void *state, const struct output_sample *sample)
{
	struct histogram *histogram = state;
	const struct report *report = histogram->report;
	struct column *column;
	uint32_t function;

	if (!report->per_vcpu)
		return 0;
	column = column_of(histogram, sample->vcpu);
	function = sampled_function(report, sample->stack);
	if (!column || function == UINT32_MAX)
		return -1;
	if (function >= column->room) {
		uint32_t room = (function + 1) * 2;
		uint64_t *self = realloc(column->self, room * sizeof(*self));

		if (!self)
			return -1;
		memset(self + column->room, 0, (room - column->room) * sizeof(*self));
		column->self = self;
		column->room = room;
	}
	column->self[function] += sample->weight;
	return 0;
}

static void count_self(void *arg, uint32_t function, uint64_t count)
{
	struct tally *tally = arg;
	uint32_t row = row_of(tally->frames, function);

	tally->rows[row].self += count;
	if (!tally->on_path[row])
		tally->rows[row].total += count;
}

static void enter_caller(void *arg, uint32_t function, uint64_t count)
{
	struct tally *tally = arg;
	uint32_t row = row_of(tally->frames, function);

	if (!tally->on_path[row]++)
		tally->rows[row].total += count;
}

static void leave_caller(void *arg, uint32_t function)
{
	struct tally *tally = arg;

	tally->on_path[row_of(tally->frames, function)]--;
}

/* Fills the rows, which are by function. */
static int tally_calls(struct histogram *histogram)
{
	struct frames *frames = histogram->report->frames;
	struct tally tally = {.frames = frames};
	struct calls_visitor visitor = {count_self, enter_caller, leave_caller, &tally};
	struct calls *calls = calls_new(histogram->report->stacks, frames);
	uint32_t functions = frames_functions(frames);
	int status = -1;

	tally.rows = calloc(functions, sizeof(*tally.rows));
	tally.on_path = calloc(functions, sizeof(*tally.on_path));
	histogram->rows = tally.rows;
	histogram->row_count = functions;
	if (!calls || !tally.rows || !tally.on_path)
		goto out;
	for (uint32_t i = 0; i < functions; i++)
		tally.rows[i].function = i ? frames_function_name(frames, i)
					   : HISTOGRAM_UNNAMED;
	calls_walk(calls, &visitor);
	status = 0;
out:
	free(tally.on_path);
	calls_free(calls);
	return status;
}

/* Gives each row, which are by function still, its cells. */
static int fill_cells(struct histogram *histogram)
{
	size_t rows = histogram->row_count;
	uint32_t vcpu_count = 0;

	if (!histogram->column_count)
		return 0;
	histogram->vcpus = malloc(histogram->column_count * sizeof(*histogram->vcpus));
	if (!histogram->vcpus)
		return -1;
	for (uint32_t i = 0; i < histogram->column_count; i++)
		if (histogram->columns[i].self)
			histogram->vcpus[vcpu_count++] = i;
	histogram->vcpu_count = vcpu_count;
	histogram->cells = calloc(rows * vcpu_count, sizeof(*histogram->cells));
	if (!histogram->cells)
		return -1;
	for (uint32_t i = 0; i < vcpu_count; i++) {
		const struct column *column = &histogram->columns[histogram->vcpus[i]];

		for (uint32_t f = 0; f < column->room && f < rows; f++)
			histogram->cells[(size_t)row_of(histogram->report->frames, f) *
						 vcpu_count +
					 i] += column->self[f];
	}
	for (uint32_t i = 0; i < rows; i++)
		histogram->rows[i].vcpus = histogram->cells + (size_t)i * vcpu_count;
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct histogram_row *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(x->function, y->function);
}

int histogram_finish(struct histogram *histogram)
{
	uint32_t kept = 0;

	if (tally_calls(histogram) < 0 || fill_cells(histogram) < 0)
		return -1;
	for (uint32_t i = 0; i < histogram->row_count; i++)
		if (histogram->rows[i].total)
			histogram->rows[kept++] = histogram->rows[i];
	histogram->row_count = kept;
	qsort(histogram->rows, kept, sizeof(*histogram->rows), compare_rows);
	return 0;
}

const struct report *histogram_report(const struct histogram *histogram)
{
	return histogram->report;
}

uint32_t histogram_rows(const struct histogram *histogram,
			const struct histogram_row **rows)
{
	*rows = histogram->rows;
	return histogram->row_count;
}

uint32_t histogram_vcpus(const struct histogram *histogram, const uint32_t **vcpus)
{
	*vcpus = histogram->vcpus;
	return histogram->vcpu_count;
}

double histogram_percent(const struct histogram *histogram, uint64_t samples)
{
	uint64_t all = histogram->report->summary->weight;

	return all ? 100.0 * (double)samples / (double)all : 0;
}

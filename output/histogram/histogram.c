/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/histogram/histogram.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/tree.h"
#include "report/model/calls.h"
#include "output/counts.h"
#include "output/histogram/files.h"

struct histogram {
	const struct report *report;
	struct counts sampled;	     /* keys: chain and vCPU */
	bool by_address;	     /* each address without a name has its own row */
	struct function_files files; /* if they are shown */
	bool has_files;
	uint32_t *vcpus; /* numbers of the vCPUs with samples, ascending */
	uint32_t vcpu_count;
	/* Until all rows are complete, they are indexed by node of a tree: one root, then
	 * domains, then what rows stand for, with numbers of functions or files as keys.
	 */
	struct tree index;
	struct histogram_row *rows;
	uint32_t row_count, left_out;
	uint64_t *cells; /* owned: what the rows' vcpus point to */
};

/* A domain's nodes */
struct domain_nodes {
	uint32_t rows;	/* in the index */
	uint32_t files; /* in the table of files */
};

/* State of the walk through the calls */
struct tally {
	struct histogram *histogram;
	struct domain_nodes domain; /* the current domain */
	uint32_t *on_path; /* by key of rows: number of times it is among the callers */
	bool failed;	   /* out of memory */
};

void *histogram_begin(const struct report *report)
{
	struct histogram *histogram = calloc(1, sizeof(*histogram));

	if (!histogram)
		return NULL;
	histogram->report = report;
	if (counts_init(&histogram->sampled) < 0 || tree_init(&histogram->index, 1) < 0) {
		histogram_free(histogram);
		return NULL;
	}
	return histogram;
}

void histogram_free(void *state)
{
	struct histogram *histogram = state;

	if (!histogram)
		return;
	counts_free(&histogram->sampled);
	tree_free(&histogram->index);
	function_files_free(&histogram->files);
	free(histogram->vcpus);
	free(histogram->rows);
	free(histogram->cells);
	free(histogram);
}

int histogram_sample(void *state, const struct counted_sample *sample)
{
	struct histogram *histogram = state;

	if (!histogram->report->view.per_vcpu)
		return 0;
	return counts_add(&histogram->sampled,
			  (uint64_t)sample->stack << 32 | sample->vcpu, sample->count);
}

/* Whether any function has a name. All functions must be known. */
static bool has_names(const struct frames *frames)
{
	for (uint32_t i = 0; i < frames_functions(frames); i++)
		if (frames_function_known(frames, i))
			return true;
	return false;
}

/* Returns the number of what the row that counts @function stands for. Functions without
 * a name share a row, unless they are listed by address. */
static uint32_t row_key(const struct histogram *histogram,
			const struct domain_nodes *domain, uint32_t function)
{
	switch (histogram->report->view.rows) {
	case REPORT_ROWS_DOMAINS:
		return 0;
	case REPORT_ROWS_FILES:
		return function_files_find(&histogram->files, domain->files, function);
	case REPORT_ROWS_FUNCTIONS:
		break;
	}
	return histogram->by_address ||
			       frames_function_known(histogram->report->frames, function)
		       ? function
		       : 0;
}

/* Returns the row for a key in a domain; TREE_NONE if out of memory. */
static uint32_t row_of(struct histogram *histogram, uint32_t domain, uint32_t key)
{
	uint32_t node = tree_intern(&histogram->index, domain, key);
	uint32_t count = histogram->index.capacity;

	if (node == TREE_NONE || node < histogram->row_count)
		return node;
	if (!array_grow_zeroed(&histogram->rows, histogram->row_count, count,
			       sizeof(*histogram->rows)))
		return TREE_NONE;
	histogram->row_count = count;
	return node;
}

/* Finds the nodes of the domain that @function represents. -1 if out of memory. */
static int find_domain(struct histogram *histogram, uint32_t function,
		       struct domain_nodes *nodes)
{
	nodes->rows = tree_intern(&histogram->index, 0, function);
	nodes->files = function_files_domain(&histogram->files, function);
	return nodes->rows == TREE_NONE ? -1 : 0;
}

static void begin_domain(void *arg, uint32_t function)
{
	struct tally *tally = arg;

	tally->failed |= find_domain(tally->histogram, function, &tally->domain) < 0;
}

/* Returns the key's row; NULL if out of memory, now or earlier. */
static struct histogram_row *find_row(struct tally *tally, uint32_t key)
{
	struct histogram *histogram = tally->histogram;
	uint32_t row = tally->failed ? TREE_NONE
				     : row_of(histogram, tally->domain.rows, key);

	tally->failed |= row == TREE_NONE;
	return row == TREE_NONE ? NULL : &histogram->rows[row];
}

static void count_self(void *arg, uint32_t function, uint64_t count)
{
	struct tally *tally = arg;
	uint32_t key = row_key(tally->histogram, &tally->domain, function);
	struct histogram_row *row = find_row(tally, key);

	if (!row)
		return;
	row->self += count;
	if (!tally->on_path[key])
		row->total += count;
}

static void enter_caller(void *arg, uint32_t function, uint64_t count)
{
	struct tally *tally = arg;
	uint32_t key = row_key(tally->histogram, &tally->domain, function);
	struct histogram_row *row = find_row(tally, key);

	if (!tally->on_path[key]++ && row)
		row->total += count;
}

static void leave_caller(void *arg, uint32_t function)
{
	struct tally *tally = arg;

	tally->on_path[row_key(tally->histogram, &tally->domain, function)]--;
}

/* Returns a number that is higher than all keys of rows. */
static uint32_t row_keys(const struct histogram *histogram)
{
	uint32_t files = function_files_count(&histogram->files);
	uint32_t functions = frames_functions(histogram->report->frames);

	return files > functions ? files : functions;
}

static int tally_calls(struct histogram *histogram)
{
	const struct report *report = histogram->report;
	struct tally tally = {.histogram = histogram};
	struct calls_visitor visitor = {count_self, begin_domain, enter_caller,
					leave_caller, &tally};
	struct calls *calls = calls_new(report->stacks, report->frames);

	histogram->by_address = report->view.lists_unnamed || !has_names(report->frames);
	histogram->has_files = report->view.shows_files ||
			       report->view.rows == REPORT_ROWS_FILES;
	tally.failed = !calls || (histogram->has_files &&
				  function_files_fill(&histogram->files, report) < 0);
	tally.on_path = calloc(row_keys(histogram), sizeof(*tally.on_path));
	tally.failed |= !tally.on_path;
	if (!tally.failed)
		calls_walk(calls, &visitor);
	free(tally.on_path);
	calls_free(calls);
	return tally.failed ? -1 : 0;
}

/* Returns the function that was running; FRAMES_NONE if out of memory. */
static uint32_t sampled_function(const struct report *report, uint32_t stack)
{
	const struct stacks *stacks = report->stacks;
	uint32_t frame;

	if (!stacks_is_address(stacks, stack))
		return FRAMES_EMPTY_CHAIN;
	frame = frames_find(report->frames, stacks->domain[stack],
			    stacks->tree.nodes[stack].key, FRAME_LEAF);
	return frame == FRAMES_NONE ? FRAMES_NONE
				    : frames_get(report->frames, frame)->function;
}

/* Lists the vCPUs, and sets @columns to their indexes in the list. */
static int list_vcpus(struct histogram *histogram, uint32_t *columns)
{
	const struct tree *sampled = &histogram->sampled.keys;
	bool met[RECORDING_MAX_VCPU + 1] = {false};

	histogram->vcpus = malloc(sizeof(met) / sizeof(met[0]) * sizeof(uint32_t));
	if (!histogram->vcpus)
		return -1;
	for (uint32_t i = 1; i < sampled->count; i++)
		met[(uint32_t)sampled->nodes[i].key] = true;
	for (uint32_t i = 0; i <= RECORDING_MAX_VCPU; i++) {
		if (!met[i])
			continue;
		columns[i] = histogram->vcpu_count;
		histogram->vcpus[histogram->vcpu_count++] = i;
	}
	return 0;
}

/* Assigns cells to the rows, which are still indexed by node. */
static int fill_cells(struct histogram *histogram)
{
	const struct report *report = histogram->report;
	const struct tree *sampled = &histogram->sampled.keys;
	uint32_t columns[RECORDING_MAX_VCPU + 1];
	size_t width;

	if (sampled->count == 1)
		return 0;
	if (list_vcpus(histogram, columns) < 0)
		return -1;
	width = histogram->vcpu_count;
	histogram->cells = calloc(histogram->index.count * width,
				  sizeof(*histogram->cells));
	if (!histogram->cells)
		return -1;
	for (uint32_t i = 1; i < sampled->count; i++) {
		uint32_t stack = (uint32_t)(sampled->nodes[i].key >> 32);
		uint32_t vcpu = (uint32_t)sampled->nodes[i].key;
		uint32_t domain = frames_domain(report->frames,
						report->stacks->domain[stack]);
		uint32_t function = sampled_function(report, stack), row;
		struct domain_nodes nodes;

		/* The walk through the calls has created all nodes. */
		if (domain == FRAMES_NONE || function == FRAMES_NONE ||
		    find_domain(histogram, domain, &nodes) < 0)
			return -1;
		row = row_of(histogram, nodes.rows, row_key(histogram, &nodes, function));
		histogram->cells[row * width + columns[vcpu]] +=
			histogram->sampled.sums[i];
	}
	for (uint32_t i = 0; i < histogram->index.count; i++)
		histogram->rows[i].vcpus = histogram->cells + i * width;
	return 0;
}

static int compare_names(const struct histogram_row *x, const struct histogram_row *y)
{
	return strcmp(x->function, y->function)	     ?
	       : strcmp(x->file ?: "", y->file ?: "") ?
						      : strcmp(x->domain, y->domain);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const enum report_sort *sort = arg;
	const struct histogram_row *x = a, *y = b;

	if (*sort == REPORT_SORT_NAME)
		return compare_names(x, y);
	if (*sort == REPORT_SORT_TOTAL && x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return compare_names(x, y);
}

/* Whether the row is shown: 1 or 0; -1 if out of memory. @key is what it stands for. */
static int is_shown(const struct histogram *histogram, const struct histogram_row *row,
		    uint32_t key)
{
	const struct report *report = histogram->report;
	uint64_t count = report->view.no_children ? row->self : row->total;

	if (!count || histogram_percent(histogram, count) < report->view.percent_limit)
		return 0;
	if (report->view.only_exits && !frames_function_is_exit(report->frames, key))
		return 0;
	return report->view.rows == REPORT_ROWS_FUNCTIONS
		       ? filter_shows(report->filter, key)
		       : 1;
}

/* Sets the names of a row of the index. */
static void name_row(const struct histogram *histogram, uint32_t node,
		     struct histogram_row *row)
{
	const struct frames *frames = histogram->report->frames;
	const struct tree_node *nodes = histogram->index.nodes;
	uint32_t key = (uint32_t)nodes[node].key;
	uint32_t domain = (uint32_t)nodes[nodes[node].parent].key;

	row->domain = frames_function_name(frames, domain);
	row->function = "";
	if (histogram->report->view.rows == REPORT_ROWS_FUNCTIONS)
		row->function = key || histogram->by_address
					? frames_function_name(frames, key)
					: FILTER_UNNAMED;
	if (!histogram->has_files || histogram->report->view.rows == REPORT_ROWS_DOMAINS)
		return;
	if (histogram->report->view.rows == REPORT_ROWS_FUNCTIONS)
		key = function_files_find(
			&histogram->files,
			function_files_domain(&histogram->files, domain), key);
	row->file = function_files_name(&histogram->files, key);
}

int histogram_finish(struct histogram *histogram)
{
	uint64_t most = histogram->report->view.most_rows;
	enum report_sort sort = histogram->report->view.sort;
	uint32_t kept = 0;

	if (tally_calls(histogram) < 0 || fill_cells(histogram) < 0)
		return -1;
	for (uint32_t i = 0; i < histogram->row_count; i++) {
		struct histogram_row row = histogram->rows[i];
		int shown;

		if (!row.total) /* the node is a domain's */
			continue;
		shown = is_shown(histogram, &row,
				 (uint32_t)histogram->index.nodes[i].key);
		if (shown < 0)
			return -1;
		if (!shown)
			continue;
		name_row(histogram, i, &row);
		histogram->rows[kept++] = row;
	}
	if (kept)
		qsort_r(histogram->rows, kept, sizeof(*histogram->rows), compare_rows,
			&sort);
	histogram->row_count = most && kept > most ? (uint32_t)most : kept;
	histogram->left_out = kept - histogram->row_count;
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

uint32_t histogram_left_out(const struct histogram *histogram)
{
	return histogram->left_out;
}

uint32_t histogram_vcpus(const struct histogram *histogram, const uint32_t **vcpus)
{
	*vcpus = histogram->vcpus;
	return histogram->vcpu_count;
}

double histogram_percent(const struct histogram *histogram, uint64_t count)
{
	uint64_t all = histogram->report->measure->whole;

	return all ? 100.0 * (double)count / (double)all : 0;
}

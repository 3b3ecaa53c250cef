/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A human-readable call tree, as drawn by `perf report --stdio -g caller`: below each
 * function its callees, with their shares of all samples, largest first; or, inverted (-g
 * callee), below each sampled function its callers. A function that is the only one shown
 * below another and has all of its samples is drawn directly below it, without a branch.
 * With several domains, these are the first level.
 */
#include "output/output.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/tree.h"
#include "report/model/calls.h"
#include "output/heading.h"

#define DEFAULT_LIMIT 0.5 /* percent, as in perf */

struct call_tree {
	const struct report *report;
	struct tree tree;   /* one root; keys are functions */
	uint64_t *total;    /* by node: samples whose chains pass through the node or end
			       there */
	uint32_t *children; /* nodes that are shown, by parent; largest total first */
	uint32_t *first; /* by node: its first child; one more entry ends the last node's
			    children */
	uint32_t node;	 /* current node of the walk through the calls */
	uint32_t capacity; /* number of entries allocated for total[] */
	char *indent;	   /* text before a line's function */
	size_t indent_room;
	size_t columns; /* width of a terminal's lines */
	bool failed;	/* out of memory */
};

static void *call_tree_begin(const struct report *report)
{
	struct call_tree *call_tree = calloc(1, sizeof(*call_tree));

	if (!call_tree)
		return NULL;
	call_tree->report = report;
	if (tree_init(&call_tree->tree, 1) == 0)
		return call_tree;
	tree_free(&call_tree->tree);
	free(call_tree);
	return NULL;
}

static void call_tree_free(void *state)
{
	struct call_tree *call_tree = state;

	tree_free(&call_tree->tree);
	free(call_tree->total);
	free(call_tree->children);
	free(call_tree->first);
	free(call_tree->indent);
	free(call_tree);
}

/* Returns the child of the current node; TREE_NONE if out of memory, now or earlier. */
static uint32_t child_of(struct call_tree *call_tree, uint32_t function)
{
	struct tree *tree = &call_tree->tree;
	uint32_t node, old = call_tree->capacity;

	if (call_tree->failed)
		return TREE_NONE;
	node = tree_intern(tree, call_tree->node, function);
	if (node != TREE_NONE && node < old)
		return node;
	call_tree->failed = node == TREE_NONE ||
			    !array_grow_zeroed(&call_tree->total, old, tree->capacity,
					       sizeof(*call_tree->total));
	if (call_tree->failed)
		return TREE_NONE;
	call_tree->capacity = tree->capacity;
	return node;
}

static void enter_function(void *arg, uint32_t function, uint64_t count)
{
	struct call_tree *call_tree = arg;
	uint32_t node = child_of(call_tree, function);

	(void)count; /* summed up from the leaves in count_calls() */
	if (node != TREE_NONE)
		call_tree->node = node;
}

static void leave_function(void *arg, uint32_t function)
{
	struct call_tree *call_tree = arg;

	(void)function;
	call_tree->node = call_tree->tree.nodes[call_tree->node].parent;
}

static void begin_domain(void *arg, uint32_t function)
{
	struct call_tree *call_tree = arg;

	call_tree->node = 0;
	if (report_shows_domains(call_tree->report))
		enter_function(call_tree, function, 0);
}

static void count_self(void *arg, uint32_t function, uint64_t count)
{
	struct call_tree *call_tree = arg;
	uint32_t node = child_of(call_tree, function);

	if (node != TREE_NONE)
		call_tree->total[node] += count;
}

static int count_calls(struct call_tree *call_tree)
{
	const struct report *report = call_tree->report;
	struct calls_visitor visitor = {count_self, begin_domain, enter_function,
					leave_function, call_tree};
	struct calls *calls = calls_of(report->stacks, report->frames,
				       report->view.invert);

	if (!calls)
		return -1;
	calls_walk(calls, &visitor);
	calls_free(calls);
	for (uint32_t i = call_tree->tree.count; !call_tree->failed && i-- > 1;)
		if (call_tree->tree.nodes[i].parent)
			call_tree->total[call_tree->tree.nodes[i].parent] +=
				call_tree->total[i];
	return call_tree->failed ? -1 : 0;
}

static double percent_of(const struct call_tree *call_tree, uint32_t node)
{
	uint64_t whole = call_tree->report->measure->whole;

	return whole ? 100.0 * (double)call_tree->total[node] / (double)whole : 0;
}

static const char *name_of(const struct call_tree *call_tree, uint32_t node)
{
	return frames_function_name(call_tree->report->frames,
				    (uint32_t)call_tree->tree.nodes[node].key);
}

/* Ends a line that has @used columns. */
static void put_name(const struct call_tree *call_tree, uint32_t node, size_t used)
{
	FILE *out = call_tree->report->out;
	size_t columns = call_tree->columns;

	text_put(out, name_of(call_tree, node), columns > used ? columns - used : 0);
	putc('\n', out);
}

static int compare_nodes(const void *a, const void *b, void *arg)
{
	const struct call_tree *call_tree = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t p = call_tree->tree.nodes[x].parent, q = call_tree->tree.nodes[y].parent;

	if (p != q)
		return p < q ? -1 : 1;
	if (call_tree->total[x] != call_tree->total[y])
		return call_tree->total[x] < call_tree->total[y] ? 1 : -1;
	return strcmp(name_of(call_tree, x), name_of(call_tree, y));
}

/* Lists the children that are large enough. */
static int list_children(struct call_tree *call_tree)
{
	const struct report *report = call_tree->report;
	double limit = report->view.has_limit ? report->view.percent_limit
					      : DEFAULT_LIMIT;
	uint32_t nodes = call_tree->tree.count, count = 0, next = 0;

	call_tree->children = malloc(nodes * sizeof(*call_tree->children));
	call_tree->first = malloc((nodes + (size_t)1) * sizeof(*call_tree->first));
	if (!call_tree->children || !call_tree->first)
		return -1;
	for (uint32_t i = 1; i < nodes; i++)
		if (percent_of(call_tree, i) >= limit)
			call_tree->children[count++] = i;
	qsort_r(call_tree->children, count, sizeof(*call_tree->children), compare_nodes,
		call_tree);
	for (uint32_t i = 0; i <= nodes; i++) {
		while (next < count &&
		       call_tree->tree.nodes[call_tree->children[next]].parent < i)
			next++;
		call_tree->first[i] = next;
	}
	return 0;
}

/* Sets @length columns of the indent, starting at @from, to @text, padded. */
static int set_indent(struct call_tree *call_tree, size_t from, const char *text,
		      size_t length)
{
	if (from + length + 1 > call_tree->indent_room) {
		size_t room = (from + length + 1) * 2;

		if (!array_grow(&call_tree->indent, room, 1))
			return -1;
		call_tree->indent_room = room;
	}
	snprintf(call_tree->indent + from, length + 1, "%-*s", (int)length, text);
	return 0;
}

/*
 * Writes the subtree of a function that starts in column @column. Recurses at most as
 * deep as call chains are long (RECORDING_MAX_DEPTH).
 */
static int put_children(struct call_tree *call_tree, uint32_t node, size_t column)
{
	uint32_t from = call_tree->first[node], to = call_tree->first[node + 1];
	FILE *out = call_tree->report->out;

	for (; from < to; from++) {
		uint32_t child = call_tree->children[from];
		bool is_last = from + 1 == to;
		char share[16];
		int width;

		if (call_tree->total[child] == call_tree->total[node] &&
		    to - call_tree->first[node] == 1) {
			fprintf(out, "%.*s", (int)column, call_tree->indent);
			put_name(call_tree, child, column);
			return put_children(call_tree, child, column);
		}
		width = snprintf(share, sizeof(share), "--%.1f%%--",
				 percent_of(call_tree, child));
		fprintf(out, "%.*s%c%s", (int)column, call_tree->indent,
			is_last ? '`' : '|', share);
		put_name(call_tree, child, column + (size_t)width + 1);
		if (set_indent(call_tree, column, is_last ? "" : "|", (size_t)width + 1) <
			    0 ||
		    put_children(call_tree, child, column + (size_t)width + 1) < 0)
			return -1;
	}
	return 0;
}

static int call_tree_end(void *state)
{
	struct call_tree *call_tree = state;
	const size_t column = strlen("100.0%  ");

	if (count_calls(call_tree) < 0 || list_children(call_tree) < 0 ||
	    set_indent(call_tree, 0, "", column) < 0)
		return -1;
	call_tree->columns = heading_columns(call_tree->report);
	heading_write(call_tree->report);
	for (uint32_t i = call_tree->first[0]; i < call_tree->first[1]; i++) {
		uint32_t node = call_tree->children[i];

		fprintf(call_tree->report->out, "%5.1f%%  ", percent_of(call_tree, node));
		put_name(call_tree, node, column);
		if (set_indent(call_tree, 0, "", column) < 0 ||
		    put_children(call_tree, node, column) < 0)
			return -1;
	}
	return 0;
}

const struct output output_tree = {
	.name = "tree",
	.about = "a call tree with percentages (human-readable)",
	.has_limit = true,
	.can_invert = true,
	.counts_waits = true,
	.begin = call_tree_begin,
	.end = call_tree_end,
	.free = call_tree_free,
};

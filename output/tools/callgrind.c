/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The Callgrind Profile Format, version 1 (Valgrind's manual, "Callgrind Format
 * Specification"), as read by callgrind_annotate and KCachegrind: for each function its
 * own cost, and that of each function it called. ob= is the symbol file. fl= is the
 * domain, because functions with the same name are distinguished by their files. With
 * source lines, fl= is the source file, and costs are by line; a function's name then
 * contains the domain, if there are several. Each domain has an additional function,
 * which calls all outermost ones.
 *
 * The additional function is needed because both tools take a function's inclusive cost
 * to be the sum over its callers, even if some of its samples have no caller
 * (callgrind_annotate, read_input_file(); KCachegrind's TracePartFunction::update()). For
 * the same reason a sample counts for a call only where its chain enters a function for
 * the first time: so each sample is counted once, and inclusive costs are the histogram's
 * totals, even with recursion. Calls from a function to itself are omitted.
 */
#include "output/output.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/names.h"
#include "base/tree.h"
#include "report/model/calls.h"
#include "report/model/domains.h"

/* A function's node, and the place in it (frames_place()). */
struct step {
	uint32_t node, place;
};

struct callgrind {
	const struct report *report;
	bool has_lines;
	struct tree functions; /* one root; domains, and their functions below them */
	struct tree costs;     /* one root; caller and callee; caller's place */
	uint64_t *cost; /* by node of costs; from a function to itself: its own cost */
	uint32_t cost_capacity;
	uint32_t *on_path; /* by frames' function: number of times it is in the path */
	struct step *path; /* path: the domain and the callers */
	uint32_t depth, path_room;
	struct names *dsos, *files;
	uint32_t *dso, *file; /* by node of functions: numbers of the DSO and the file */
	/* By node of functions, by DSO and by file: whether the name has been written. */
	bool *told_function, *told_dso, *told_file;
	bool failed; /* out of memory */
};

static void callgrind_free(void *state)
{
	struct callgrind *callgrind = state;

	if (!callgrind)
		return;
	tree_free(&callgrind->functions);
	tree_free(&callgrind->costs);
	free(callgrind->cost);
	free(callgrind->on_path);
	free(callgrind->path);
	names_free(callgrind->dsos);
	names_free(callgrind->files);
	free(callgrind->dso);
	free(callgrind->file);
	free(callgrind->told_function);
	free(callgrind->told_dso);
	free(callgrind->told_file);
	free(callgrind);
}

static void *callgrind_begin(const struct report *report)
{
	struct callgrind *callgrind = calloc(1, sizeof(*callgrind));

	if (!callgrind)
		return NULL;
	callgrind->report = report;
	callgrind->has_lines = report->sources->lines == SOURCE_LINES_APART;
	callgrind->dsos = names_new();
	callgrind->files = names_new();
	/* The name that the format's own tools use for functions without a file. */
	if (tree_init(&callgrind->functions, 1) < 0 ||
	    tree_init(&callgrind->costs, 1) < 0 || !callgrind->dsos ||
	    !callgrind->files || names_intern(callgrind->dsos, "???") != 0 ||
	    names_intern(callgrind->files, "???") != 0) {
		callgrind_free(callgrind);
		return NULL;
	}
	return callgrind;
}

static uint32_t node_of(struct callgrind *callgrind, uint32_t parent, uint32_t function)
{
	uint32_t node = callgrind->failed
				? TREE_NONE
				: tree_intern(&callgrind->functions, parent, function);

	callgrind->failed |= node == TREE_NONE;
	return node;
}

static void add_cost(struct callgrind *callgrind, struct step caller, uint32_t called,
		     uint64_t count)
{
	uint32_t old = callgrind->cost_capacity, node;

	if (callgrind->failed)
		return;
	node = tree_intern(&callgrind->costs, 0, (uint64_t)caller.node << 32 | called);
	if (node != TREE_NONE)
		node = tree_intern(&callgrind->costs, node, caller.place);
	callgrind->failed = node == TREE_NONE;
	if (node != TREE_NONE && node >= old) {
		uint32_t capacity = callgrind->costs.capacity;

		callgrind->failed = !array_grow_zeroed(&callgrind->cost, old, capacity,
						       sizeof(*callgrind->cost));
		if (callgrind->failed)
			return;
		callgrind->cost_capacity = capacity;
	}
	if (!callgrind->failed)
		callgrind->cost[node] += count;
}

/* With inlined functions, paths can be longer than the recording's chains. */
static void path_push(struct callgrind *callgrind, struct step step)
{
	if (callgrind->depth == callgrind->path_room) {
		uint32_t room = callgrind->path_room * 2 + 64;

		if (!array_grow(&callgrind->path, room, sizeof(*callgrind->path))) {
			callgrind->failed = true;
			return;
		}
		callgrind->path_room = room;
	}
	callgrind->path[callgrind->depth++] = step;
}

static uint32_t function_of(const struct callgrind *callgrind, uint32_t place)
{
	return frames_place(callgrind->report->frames, place).function;
}

static void begin_domain(void *arg, uint32_t place)
{
	struct callgrind *callgrind = arg;
	uint32_t node = node_of(callgrind, 0, function_of(callgrind, place));

	callgrind->depth = 0;
	path_push(callgrind, (struct step){node, place});
}

/* Enters a function, whose node is returned; its cost is charged to its caller unless it
 * is in the path already. */
static struct step call_function(struct callgrind *callgrind, uint32_t place,
				 uint64_t count)
{
	uint32_t function = function_of(callgrind, place);
	struct step step = {TREE_NONE, place};

	if (callgrind->failed)
		return step;
	step.node = node_of(callgrind, callgrind->path[0].node, function);
	if (!callgrind->on_path[function])
		add_cost(callgrind, callgrind->path[callgrind->depth - 1], step.node,
			 count);
	return step;
}

static void enter_function(void *arg, uint32_t place, uint64_t count)
{
	struct callgrind *callgrind = arg;
	struct step step = call_function(callgrind, place, count);

	if (callgrind->failed)
		return;
	callgrind->on_path[function_of(callgrind, place)]++;
	path_push(callgrind, step);
}

static void leave_function(void *arg, uint32_t place)
{
	struct callgrind *callgrind = arg;

	if (callgrind->failed)
		return;
	callgrind->on_path[function_of(callgrind, place)]--;
	callgrind->depth--;
}

static void count_self(void *arg, uint32_t place, uint64_t count)
{
	struct callgrind *callgrind = arg;
	struct step step = call_function(callgrind, place, count);

	add_cost(callgrind, step, step.node, count);
}

static int add_costs(struct callgrind *callgrind)
{
	struct calls_visitor visitor = {count_self, begin_domain, enter_function,
					leave_function, callgrind};
	struct frames *frames = callgrind->report->frames;
	struct calls *calls = calls_by_place(callgrind->report->stacks, frames);

	callgrind->on_path = calloc(frames_functions(frames),
				    sizeof(*callgrind->on_path));
	callgrind->failed = !calls || !callgrind->on_path;
	if (!callgrind->failed)
		calls_walk(calls, &visitor);
	calls_free(calls);
	return callgrind->failed ? -1 : 0;
}

/* Stores the files of the functions at the frame. The walk through the calls has created
 * all of them. For a function in several source files, the first one found is used. */
static int keep_files(struct callgrind *callgrind, const struct frame *frame,
		      uint32_t domain)
{
	const struct frames *frames = callgrind->report->frames;
	uint32_t dso = names_intern(callgrind->dsos, frame->dso);

	for (uint32_t i = 0; i < frame->function_count; i++) {
		struct frame_place place = frames_place(
			frames, frames_place_at(frames, frame, i));
		uint32_t node = tree_intern(&callgrind->functions, domain,
					    place.function);

		callgrind->dso[node] = dso;
		if (!*place.path || callgrind->file[node])
			continue;
		callgrind->file[node] = names_intern(callgrind->files, place.path);
		if (callgrind->file[node] == NAMES_NONE)
			return -1;
	}
	return dso == NAMES_NONE ? -1 : 0;
}

static int find_files_at(struct callgrind *callgrind, uint32_t stack, enum frame_use use)
{
	struct frames *frames = callgrind->report->frames;
	const struct stacks *stacks = callgrind->report->stacks;
	uint32_t domain = frames_domain(frames, stacks->domain[stack]);
	uint32_t number = frames_find(frames, stacks->domain[stack],
				      stacks->tree.nodes[stack].key, use);
	const struct frame *frame;

	if (domain == FRAMES_NONE || number == FRAMES_NONE)
		return -1;
	frame = frames_get(frames, number);
	if (!frame->dso)
		return 0;
	return keep_files(callgrind, frame,
			  tree_intern(&callgrind->functions, 0, domain));
}

/* Without lines, the domain is used as the file of a function. */
static int name_domains(struct callgrind *callgrind)
{
	const struct tree *functions = &callgrind->functions;

	for (uint32_t i = 1; i < functions->count; i++) {
		uint32_t domain = functions->nodes[i].parent ?: i;
		const char *name = frames_function_name(
			callgrind->report->frames,
			(uint32_t)functions->nodes[domain].key);

		callgrind->file[i] = names_intern(callgrind->files, name);
		if (callgrind->file[i] == NAMES_NONE)
			return -1;
	}
	return 0;
}

static int find_files(struct callgrind *callgrind)
{
	const struct stacks *stacks = callgrind->report->stacks;
	uint32_t count = callgrind->functions.count;
	uint64_t *inclusive = stacks_inclusive(stacks);
	int status = 0;

	callgrind->dso = calloc(count, sizeof(*callgrind->dso));
	callgrind->file = calloc(count, sizeof(*callgrind->file));
	if (!inclusive || !callgrind->dso || !callgrind->file)
		status = -1;
	else if (!callgrind->has_lines)
		status = name_domains(callgrind);
	for (uint32_t i = SAMPLES_ROOTS; i < stacks->tree.count && status == 0; i++) {
		if (!stacks_is_address(stacks, i))
			continue;
		if (stacks->self[i])
			status = find_files_at(callgrind, i, FRAME_LEAF);
		if (inclusive[i] > stacks->self[i] && status == 0)
			status = find_files_at(callgrind, i, FRAME_CALLER);
	}
	free(inclusive);
	return status;
}

/*
 * Writes a name as "(number) name" the first time and as "(number)" later ("Name
 * Compression"). Readers skip blanks between the two.
 */
static void put_name(FILE *out, const char *key, uint32_t number, const char *name,
		     bool *told)
{
	fprintf(out, "%s=(%" PRIu32 ")", key, number);
	if (!told[number])
		fprintf(out, " %s%s", *name == ' ' ? "_" : "", name);
	putc('\n', out);
	told[number] = true;
}

/* The keys of the lines that name a function: as the subject, and as a callee. */
struct keys {
	const char *dso, *file, *function;
};

static void put_file(const struct callgrind *callgrind, const char *key, uint32_t file)
{
	put_name(callgrind->report->out, key, file, names_get(callgrind->files, file),
		 callgrind->told_file);
}

static void put_function(const struct callgrind *callgrind, const struct keys *keys,
			 uint32_t node)
{
	const struct frames *frames = callgrind->report->frames;
	const struct tree_node *nodes = callgrind->functions.nodes;
	uint32_t domain = nodes[node].parent ?: node, dso = callgrind->dso[node];
	const char *name = frames_function_name(frames, (uint32_t)nodes[node].key);
	const char *of = frames_function_name(frames, (uint32_t)nodes[domain].key);
	FILE *out = callgrind->report->out;

	put_name(out, keys->dso, dso, names_get(callgrind->dsos, dso),
		 callgrind->told_dso);
	put_file(callgrind, keys->file, callgrind->file[node]);
	fprintf(out, "%s=(%" PRIu32 ")", keys->function, node);
	if (callgrind->told_function[node])
		putc('\n', out);
	else if (node == domain)
		fprintf(out, " [domain %s]\n", name);
	else if (callgrind->has_lines && report_shows_domains(callgrind->report))
		fprintf(out, " %s%s [%s]\n", *name == ' ' ? "_" : "", name, of);
	else
		fprintf(out, " %s%s\n", *name == ' ' ? "_" : "", name);
	callgrind->told_function[node] = true;
}

/* A cost of a caller */
struct item {
	uint64_t key; /* caller and callee */
	uint32_t file, line;
	uint64_t cost;
};

/* Writes a cost. Positions are line numbers, 0 if unknown. */
static void put_cost(const struct callgrind *callgrind, const struct item *item,
		     uint32_t *file)
{
	static const struct keys keys = {"cob", "cfi", "cfn"};
	uint32_t caller = (uint32_t)(item->key >> 32), called = (uint32_t)item->key;
	FILE *out = callgrind->report->out;

	if (item->line && item->file != *file) {
		/* Switches to another file within a function, and back. */
		put_file(callgrind, item->file == callgrind->file[caller] ? "fe" : "fi",
			 item->file);
		*file = item->file;
	}
	if (caller != called) {
		put_function(callgrind, &keys, called);
		/* The number of calls is not known, but both tools treat 0 as no call. */
		fputs("calls=1 0\n", out);
	}
	fprintf(out, "%" PRIu32 " %" PRIu64 "\n", item->line, item->cost);
}

static void put_head(const struct callgrind *callgrind)
{
	const struct report *report = callgrind->report;
	const char *event = measure_name(report->measure);
	FILE *out = report->out;

	fputs("# callgrind format\nversion: 1\ncreator: uniprof\n", out);
	if (report->coverage->domain_count == 1)
		fprintf(out, "cmd: %s\n", report->coverage->domain);
	else
		fprintf(out, "cmd: %zu domains\n", report->coverage->domain_count);
	fputs("positions: line\n", out);
	if (measure_is_time(report->measure))
		fprintf(out, "event: %s : %s in us\n", event,
			measure_noun(report->measure));
	else if (measure_is_event(report->measure))
		fprintf(out, "event: %s : %s\n", event, measure_noun(report->measure));
	fprintf(out, "events: %s\nsummary: %" PRIu64 "\n", event, report->measure->total);
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* Lists all costs, and returns their number; -1 if out of memory. */
static int64_t list_costs(const struct callgrind *callgrind, struct item *items)
{
	const struct tree_node *nodes = callgrind->costs.nodes;
	int64_t count = 0;

	for (uint32_t i = 1; i < callgrind->costs.count; i++) {
		struct frame_place place;
		struct item item = {.cost = callgrind->cost[i]};

		if (!nodes[i].parent)
			continue;
		place = frames_place(callgrind->report->frames, (uint32_t)nodes[i].key);
		item.key = nodes[nodes[i].parent].key;
		item.line = place.line;
		if (*place.path)
			item.file = names_intern(callgrind->files, place.path);
		if (item.file == NAMES_NONE)
			return -1;
		items[count++] = item;
	}
	return count;
}

/* Writes all costs, grouped by caller. */
static void put_costs(const struct callgrind *callgrind, const struct item *items,
		      int64_t count)
{
	static const struct keys keys = {"ob", "fl", "fn"};
	uint32_t last = TREE_NONE, file = 0;

	for (int64_t i = 0; i < count; i++) {
		uint32_t caller = (uint32_t)(items[i].key >> 32);

		if (caller != last) {
			putc('\n', callgrind->report->out);
			put_function(callgrind, &keys, caller);
			last = caller;
			file = callgrind->file[caller];
		}
		put_cost(callgrind, &items[i], &file);
	}
}

static int callgrind_end(void *state)
{
	struct callgrind *callgrind = state;
	struct item *items = NULL;
	int64_t count = -1;

	if (add_costs(callgrind) < 0 || find_files(callgrind) < 0)
		return -1;
	items = malloc(callgrind->costs.count * sizeof(*items));
	if (items)
		count = list_costs(callgrind, items);
	callgrind->told_function = calloc(callgrind->functions.count, sizeof(bool));
	callgrind->told_dso = calloc(names_count(callgrind->dsos), sizeof(bool));
	callgrind->told_file = calloc(names_count(callgrind->files), sizeof(bool));
	if (!callgrind->told_function || !callgrind->told_dso || !callgrind->told_file)
		count = -1;
	if (count >= 0) {
		qsort(items, (size_t)count, sizeof(*items), compare_items);
		put_head(callgrind);
		put_costs(callgrind, items, count);
	}
	free(items);
	return count < 0 ? -1 : 0;
}

const struct output output_callgrind = {
	.name = "callgrind",
	.about = "callgrind format, for KCachegrind, callgrind_annotate",
	.lines = OUTPUT_LINES_APART,
	.counts_waits = true,
	.begin = callgrind_begin,
	.end = callgrind_end,
	.free = callgrind_free,
};

/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The Callgrind Profile Format, version 1 (Valgrind's manual, "Callgrind Format
 * Specification"), as callgrind_annotate and KCachegrind read it: for each function
 * its own cost, and that of each function it called. fl= has the domain, as functions
 * of one name are told apart by their files; ob= has the symbol file. Each domain has
 * one more function, which called all outermost ones.
 *
 * That one is needed as both tools take a function's inclusive cost to be what its
 * callers paid for it, even if some of its samples have no caller (callgrind_annotate,
 * read_input_file(); KCachegrind's TracePartFunction::update()). For the same reason a
 * sample counts for a call only where its chain enters a function for the first time:
 * so each sample is paid for once, and inclusive costs are the histogram's totals, in
 * recursions too. Calls to itself are not told of.
 */
#include "report/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/calls.h"
#include "report/domains.h"
#include "report/names.h"
#include "report/tree.h"

struct callgrind {
	const struct report *report;
	struct tree functions; /* one root; domains, and their functions below them */
	struct tree costs;     /* one root; the keys: caller and called function */
	uint64_t *cost;	       /* by node of it; from a function to itself: its own */
	uint32_t cost_capacity;
	uint32_t *on_path; /* by frames' function, in the path */
	uint32_t *path;	   /* the domain and the callers */
	uint32_t depth, path_room;
	struct names *dsos;
	uint32_t *dso; /* by node of functions */
	/* By node of functions, and by DSO: whether the name was told. */
	bool *told_function, *told_domain, *told_dso;
	bool failed; /* memory was short */
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
	if (callgrind->dsos)
		names_free(callgrind->dsos);
	free(callgrind->dso);
	free(callgrind->told_function);
	free(callgrind->told_domain);
	free(callgrind->told_dso);
	free(callgrind);
}

static void *callgrind_begin(const struct report *report)
{
	struct callgrind *callgrind = calloc(1, sizeof(*callgrind));

	if (!callgrind)
		return NULL;
	callgrind->report = report;
	callgrind->dsos = names_new();
	/* What the format's own tools call what has no file. */
	if (tree_init(&callgrind->functions, 1) < 0 ||
	    tree_init(&callgrind->costs, 1) < 0 || !callgrind->dsos ||
	    names_intern(callgrind->dsos, "???") != 0) {
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

static void add_cost(struct callgrind *callgrind, uint32_t caller, uint32_t called,
		     uint64_t count)
{
	uint32_t old = callgrind->cost_capacity, node;

	if (callgrind->failed)
		return;
	node = tree_intern(&callgrind->costs, 0, (uint64_t)caller << 32 | called);
	callgrind->failed = node == TREE_NONE;
	if (node != TREE_NONE && node >= old) {
		uint32_t capacity = callgrind->costs.capacity;
		uint64_t *grown = realloc(callgrind->cost, capacity * sizeof(*grown));

		callgrind->failed = !grown;
		if (!grown)
			return;
		memset(grown + old, 0, (capacity - old) * sizeof(*grown));
		callgrind->cost = grown;
		callgrind->cost_capacity = capacity;
	}
	if (!callgrind->failed)
		callgrind->cost[node] += count;
}

/* Inlined functions make paths longer than the recording's chains. */
static void push(struct callgrind *callgrind, uint32_t node)
{
	if (callgrind->depth == callgrind->path_room) {
		uint32_t room = callgrind->path_room * 2 + 64;
		uint32_t *grown = realloc(callgrind->path, room * sizeof(*grown));

		callgrind->failed |= !grown;
		if (!grown)
			return;
		callgrind->path = grown;
		callgrind->path_room = room;
	}
	callgrind->path[callgrind->depth++] = node;
}

static void begin_domain(void *arg, uint32_t function)
{
	struct callgrind *callgrind = arg;

	callgrind->depth = 0;
	push(callgrind, node_of(callgrind, 0, function));
}

/* The function's node; its caller pays for it when it is entered for the first time. */
static uint32_t call_function(struct callgrind *callgrind, uint32_t function,
			      uint64_t count)
{
	uint32_t node;

	if (callgrind->failed)
		return TREE_NONE;
	node = node_of(callgrind, callgrind->path[0], function);
	if (!callgrind->on_path[function])
		add_cost(callgrind, callgrind->path[callgrind->depth - 1], node, count);
	return node;
}

static void enter_function(void *arg, uint32_t function, uint64_t count)
{
	struct callgrind *callgrind = arg;
	uint32_t node = call_function(callgrind, function, count);

	if (callgrind->failed)
		return;
	callgrind->on_path[function]++;
	push(callgrind, node);
}

static void leave_function(void *arg, uint32_t function)
{
	struct callgrind *callgrind = arg;

	if (callgrind->failed)
		return;
	callgrind->on_path[function]--;
	callgrind->depth--;
}

static void count_self(void *arg, uint32_t function, uint64_t count)
{
	struct callgrind *callgrind = arg;
	uint32_t node = call_function(callgrind, function, count);

	add_cost(callgrind, node, node, count);
}

static int add_costs(struct callgrind *callgrind)
{
	struct calls_visitor visitor = {count_self, begin_domain, enter_function,
					leave_function, callgrind};
	struct frames *frames = callgrind->report->frames;
	struct calls *calls = calls_new(callgrind->report->stacks, frames);

	callgrind->on_path = calloc(frames_functions(frames),
				    sizeof(*callgrind->on_path));
	callgrind->failed = !calls || !callgrind->on_path;
	if (!callgrind->failed)
		calls_walk(calls, &visitor);
	calls_free(calls);
	return callgrind->failed ? -1 : 0;
}

/* Keeps the symbol file of the function that the address is in. The walk through the
 * calls has met both. */
static int find_dso(struct callgrind *callgrind, uint32_t stack, enum frame_use use)
{
	struct frames *frames = callgrind->report->frames;
	const struct stacks *stacks = callgrind->report->stacks;
	uint32_t domain = frames_domain(frames, stacks->domain[stack]);
	uint32_t number = frames_find(frames, stacks->domain[stack],
				      stacks->tree.nodes[stack].key, use);
	const struct frame *frame;
	uint32_t dso;

	if (domain == FRAMES_NONE || number == FRAMES_NONE)
		return -1;
	frame = frames_get(frames, number);
	if (!frame->dso)
		return 0;
	dso = names_intern(callgrind->dsos, frame->dso);
	if (dso == NAMES_NONE)
		return -1;
	domain = tree_intern(&callgrind->functions, 0, domain);
	for (uint32_t i = 0; i < frame->function_count; i++)
		callgrind->dso[tree_intern(&callgrind->functions, domain,
					   frames_function_at(frames, frame, i))] = dso;
	return 0;
}

static int find_dsos(struct callgrind *callgrind)
{
	const struct stacks *stacks = callgrind->report->stacks;
	uint32_t count = callgrind->functions.count;
	uint64_t *inclusive = stacks_inclusive(stacks);
	int status = 0;

	callgrind->dso = calloc(count, sizeof(*callgrind->dso));
	if (!inclusive || !callgrind->dso)
		status = -1;
	for (uint32_t i = SAMPLES_ROOTS; i < stacks->tree.count && status == 0; i++) {
		if (!stacks_is_address(stacks, i))
			continue;
		if (stacks->self[i])
			status = find_dso(callgrind, i, FRAME_LEAF);
		if (inclusive[i] > stacks->self[i] && status == 0)
			status = find_dso(callgrind, i, FRAME_CALLER);
	}
	free(inclusive);
	return status;
}

/*
 * Writes a name as "(number) name", and the next time as "(number)" ("Name
 * Compression"). Readers pass over blanks between the two.
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

/* The keys of the lines that name a function: where it is about, and where called. */
struct keys {
	const char *dso, *file, *function;
};

static void put_function(const struct callgrind *callgrind, const struct keys *keys,
			 uint32_t node)
{
	const struct frames *frames = callgrind->report->frames;
	const struct tree_node *nodes = callgrind->functions.nodes;
	uint32_t domain = nodes[node].parent ? nodes[node].parent : node;
	uint32_t dso = callgrind->dso[node];
	const char *name = frames_function_name(frames, (uint32_t)nodes[node].key);
	FILE *out = callgrind->report->out;
	char whole[DOMAIN_NAME_SIZE + 16];

	put_name(out, keys->dso, dso, names_get(callgrind->dsos, dso),
		 callgrind->told_dso);
	put_name(out, keys->file, domain,
		 frames_function_name(frames, (uint32_t)nodes[domain].key),
		 callgrind->told_domain);
	if (node == domain) {
		snprintf(whole, sizeof(whole), "[domain %s]", name);
		name = whole;
	}
	put_name(out, keys->function, node, name, callgrind->told_function);
}

/* Positions are line numbers; 0 says that there is none. */
static void put_cost(const struct callgrind *callgrind, uint32_t caller, uint32_t called,
		     uint64_t cost)
{
	static const struct keys keys = {"cob", "cfi", "cfn"};

	if (caller != called) {
		put_function(callgrind, &keys, called);
		/* How often is not known, but both tools take 0 for no call. */
		fputs("calls=1 0\n", callgrind->report->out);
	}
	fprintf(callgrind->report->out, "0 %" PRIu64 "\n", cost);
}

static void put_head(const struct callgrind *callgrind)
{
	const struct report *report = callgrind->report;
	const char *event = measure_name(report->measure);
	FILE *out = report->out;

	fputs("# callgrind format\nversion: 1\ncreator: uniprof\n", out);
	if (report->domain_count == 1)
		fprintf(out, "cmd: %s\n", report->domain);
	else
		fprintf(out, "cmd: %zu domains\n", report->domain_count);
	fputs("positions: line\n", out);
	if (measure_is_time(report->measure))
		fprintf(out, "event: %s : %s in us\n", event,
			measure_noun(report->measure));
	fprintf(out, "events: %s\nsummary: %" PRIu64 "\n", event, report->measure->total);
}

struct item {
	uint64_t key, cost;
};

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* Writes all costs, those of a caller together. */
static int put_costs(const struct callgrind *callgrind)
{
	static const struct keys keys = {"ob", "fl", "fn"};
	uint32_t count = callgrind->costs.count - 1, last = TREE_NONE;
	struct item *items = malloc((count + (size_t)1) * sizeof(*items));

	if (!items)
		return -1;
	for (uint32_t i = 0; i < count; i++)
		items[i] = (struct item){callgrind->costs.nodes[i + 1].key,
					 callgrind->cost[i + 1]};
	qsort(items, count, sizeof(*items), compare_items);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t caller = (uint32_t)(items[i].key >> 32);

		if (caller != last) {
			putc('\n', callgrind->report->out);
			put_function(callgrind, &keys, caller);
			last = caller;
		}
		put_cost(callgrind, caller, (uint32_t)items[i].key, items[i].cost);
	}
	free(items);
	return 0;
}

static int callgrind_end(void *state)
{
	struct callgrind *callgrind = state;
	size_t functions;

	if (add_costs(callgrind) < 0 || find_dsos(callgrind) < 0)
		return -1;
	functions = callgrind->functions.count;
	callgrind->told_function = calloc(functions, sizeof(bool));
	callgrind->told_domain = calloc(functions, sizeof(bool));
	callgrind->told_dso = calloc(names_count(callgrind->dsos), sizeof(bool));
	if (!callgrind->told_function || !callgrind->told_domain || !callgrind->told_dso)
		return -1;
	put_head(callgrind);
	return put_costs(callgrind);
}

const struct output output_callgrind = {
	.name = "callgrind",
	.about = "callgrind's format, for KCachegrind, callgrind_annotate",
	.begin = callgrind_begin,
	.end = callgrind_end,
	.free = callgrind_free,
};

/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rows for a database, as JSON lines (one object in each): ClickHouse's JSONEachRow,
 * DuckDB's read_json(), Spark's read.json(). A row has the samples of a second, domain,
 * vCPU, state and chain of functions. All fields are in all rows, with the same type, so
 * that files of many recordings can be joined with cat(1).
 */
#include "report/output/output.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/tree.h"
#include "report/model/domains.h"
#include "report/write/json.h"

/* A row: samples that are counted together */
struct row {
	uint64_t vcpu;	/* domain's index << 32 | vCPU */
	uint64_t chain; /* state << 32 | node in functions */
	uint64_t count;
};

struct rows {
	const struct report *report;
	struct json *json;
	struct tree functions; /* one root; keys: functions, outermost first */
	uint32_t *chains; /* by node of the stacks: node in functions; 0: not known yet */
	uint32_t chain_room;
	uint32_t *stack; /* space for one chain of functions */
	size_t stack_room;

	uint64_t second; /* second of the collected rows, see second_of() */
	struct row *row;
	size_t row_count, row_room;
};

static void rows_free(void *state)
{
	struct rows *rows = state;

	if (!rows)
		return;
	json_free(rows->json);
	tree_free(&rows->functions);
	free(rows->chains);
	free(rows->stack);
	free(rows->row);
	free(rows);
}

static void *rows_begin(const struct report *report)
{
	struct rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return NULL;
	rows->report = report;
	rows->json = json_new_lines(report->out);
	if (rows->json && tree_init(&rows->functions, 1) == 0)
		return rows;
	rows_free(rows);
	return NULL;
}

/* Returns the second of a sample since 1970-01-01 UTC or, if it is unknown when the
 * recording started, since its start. */
static uint64_t second_of(const struct summary *summary, uint64_t time)
{
	uint64_t start = summary_start(summary), wall = summary->info.wall_start;
	uint64_t since = time > start ? time - start : 0;

	return since / NS_PER_S + wall / NS_PER_S +
	       (since % NS_PER_S + wall % NS_PER_S) / NS_PER_S;
}

static void put_time(const struct rows *rows)
{
	uint64_t start = rows->report->summary->info.wall_start;
	char time[TEXT_TIME_SIZE];

	if (start && rows->second <= UINT64_MAX / NS_PER_S) {
		text_time(time, rows->second * NS_PER_S, true);
		json_string(rows->json, "time", time);
	} else {
		json_null(rows->json, "time");
	}
	json_number(rows->json, "second", rows->second - start / NS_PER_S);
}

/* Adds the functions at an address, outermost first, to the chain @node. TREE_NONE if out
 * of memory. */
static uint32_t add_functions(struct rows *rows, uint32_t node, uint32_t domain,
			      uint64_t address, enum frame_use use)
{
	struct frames *frames = rows->report->frames;
	uint32_t number = frames_find(frames, domain, address, use);
	const struct frame *frame;

	if (number == FRAMES_NONE)
		return TREE_NONE;
	frame = frames_get(frames, number);
	for (uint32_t i = frame->function_count; i-- > 0 && node != TREE_NONE;)
		node = tree_intern(&rows->functions, node,
				   frames_function_at(frames, frame, i));
	return node;
}

static uint32_t make_chain(struct rows *rows, uint32_t stack)
{
	const struct stacks *stacks = rows->report->stacks;
	uint32_t domain = stacks->domain[stack], depth = 0, node = 0;
	uint64_t address[RECORDING_MAX_DEPTH];

	for (; stacks_is_address(stacks, stack); stack = stacks->tree.nodes[stack].parent)
		address[depth++] = stacks->tree.nodes[stack].key;
	if (!depth)
		return tree_intern(&rows->functions, 0, FRAMES_EMPTY_CHAIN);
	while (depth-- > 0 && node != TREE_NONE)
		node = add_functions(rows, node, domain, address[depth],
				     depth ? FRAME_CALLER : FRAME_LEAF);
	return node;
}

/* Returns the node in functions of a call chain, which is looked up once. TREE_NONE if
 * out of memory. */
static uint32_t chain_of(struct rows *rows, uint32_t stack)
{
	uint32_t room = rows->report->stacks->tree.capacity;

	if (stack >= rows->chain_room) {
		if (!array_grow_zeroed(&rows->chains, rows->chain_room, room,
				       sizeof(*rows->chains)))
			return TREE_NONE;
		rows->chain_room = room;
	}
	if (!rows->chains[stack])
		rows->chains[stack] = make_chain(rows, stack);
	return rows->chains[stack];
}

static int put_stack(struct rows *rows, uint32_t chain)
{
	const struct tree_node *nodes = rows->functions.nodes;
	size_t depth = 0;

	for (; chain; chain = nodes[chain].parent) {
		if (depth == rows->stack_room) {
			size_t room = depth * 2 + 64;

			if (!array_grow(&rows->stack, room, sizeof(*rows->stack)))
				return -1;
			rows->stack_room = room;
		}
		rows->stack[depth++] = (uint32_t)nodes[chain].key;
	}
	json_array(rows->json, "stack");
	while (depth-- > 0)
		json_string(
			rows->json, NULL,
			frames_function_name(rows->report->frames, rows->stack[depth]));
	json_end(rows->json);
	return 0;
}

static int put_row(struct rows *rows, const struct row *row)
{
	const struct report *report = rows->report;
	uint32_t domain = (uint32_t)(row->vcpu >> 32);
	const struct recording_domain *of = summary_domain(report->summary, domain);
	char host[sizeof(report->summary->info.host)];
	char name[DOMAIN_NAME_SIZE], space[DOMAIN_SPACE_SIZE], comm[RECORDING_COMM] = "";
	struct json *json = rows->json;

	domain_plain_name(name, of);
	text_clean(name, name);
	domain_space(space, of);
	text_clean(comm, of ? of->process.comm : "");
	text_clean(host, report->summary->info.host);
	json_object(json, NULL);
	put_time(rows);
	json_string(json, "host", host);
	json_string(json, "domain", name);
	json_number(json, "domain_id", of ? of->id : 0);
	json_string(json, "space", space);
	json_number(json, "pid", of ? of->process.pid : 0);
	json_string(json, "comm", comm);
	json_number(json, "vcpu", (uint32_t)row->vcpu);
	json_string(json, "state", vcpu_state_name((unsigned int)(row->chain >> 32)));
	if (put_stack(rows, (uint32_t)row->chain) < 0)
		return -1;
	json_number(json, measure_name(report->measure), row->count);
	json_end(json);
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu ? -1 : 1;
	return (x->chain > y->chain) - (x->chain < y->chain);
}

/* Sorts the rows, and adds up equal ones. */
static void merge_rows(struct rows *rows)
{
	size_t kept = 0;

	if (rows->row_count)
		qsort(rows->row, rows->row_count, sizeof(*rows->row), compare_rows);
	for (size_t i = 1; i < rows->row_count; i++) {
		if (compare_rows(&rows->row[kept], &rows->row[i]) == 0)
			rows->row[kept].count += rows->row[i].count;
		else
			rows->row[++kept] = rows->row[i];
	}
	if (rows->row_count)
		rows->row_count = kept + 1;
}

/* Writes the rows that are collected. -1 if out of memory. */
static int put_rows(struct rows *rows)
{
	merge_rows(rows);
	for (size_t i = 0; i < rows->row_count && !ferror(rows->report->out); i++)
		if (put_row(rows, &rows->row[i]) < 0)
			return -1;
	rows->row_count = 0;
	return 0;
}

static int add_row(struct rows *rows, const struct row *row)
{
	if (rows->row_count == rows->row_room) {
		size_t room = rows->row_room * 2 + 1024;

		merge_rows(rows);
		/* At least half of the room must be free, or rows would be sorted too
		 * often. */
		if (rows->row_count >= rows->row_room / 2) {
			if (!array_grow(&rows->row, room, sizeof(*rows->row)))
				return -1;
			rows->row_room = room;
		}
	}
	rows->row[rows->row_count++] = *row;
	return 0;
}

static int rows_sample(void *state, const struct counted_sample *sample)
{
	struct rows *rows = state;
	uint64_t second = second_of(rows->report->summary, sample->time);
	uint32_t chain = chain_of(rows, sample->stack);
	const struct row row = {.vcpu = (uint64_t)sample->domain << 32 | sample->vcpu,
				.chain = (uint64_t)sample->state << 32 | chain,
				.count = sample->count};

	if (chain == TREE_NONE)
		return -1;
	if (second != rows->second && put_rows(rows) < 0)
		return -1;
	rows->second = second;
	return add_row(rows, &row);
}

static int rows_end(void *state)
{
	return put_rows(state);
}

const struct output output_rows = {
	.name = "rows",
	.about = "JSON lines for databases: by second, vCPU, state and chain",
	.one_recording = true, /* files of several are joined with cat(1) */
	.lines = OUTPUT_LINES_IN_NAMES,
	.begin = rows_begin,
	.sample = rows_sample,
	.end = rows_end,
	.free = rows_free,
};

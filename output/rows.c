/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rows for a database, as JSON lines (one object in each): ClickHouse's JSONEachRow,
 * DuckDB's read_json(), Spark's read.json(). A row has the samples of a second, domain,
 * vCPU, state, exit and chain of functions; or, of the waits that began in a second,
 * those of a thread with one chain. All fields are in all rows, with the same type, so
 * that files of many recordings can be joined with cat(1).
 */
#include "output/output.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/chain.h"
#include "base/clock.h"
#include "base/text.h"
#include "report/model/domains.h"
#include "output/paths.h"
#include "output/write/json.h"

/* State of threads that wait; all others are vCPUs'. */
#define STATE_WAITING UINT32_MAX

/* A row: samples, or waits, that are counted together */
struct row {
	uint64_t second; /* see second_of() */
	uint64_t vcpu;	 /* domain's index << 32 | vCPU */
	uint64_t chain;	 /* state << 32 | path */
	uint64_t exit;	 /* exit_make(), or 0 */
	uint64_t count;
};

struct rows {
	const struct report *report;
	struct json *json;
	struct paths chains; /* of functions */
	struct row *row;     /* samples of one second, or all waits */
	size_t row_count, row_room;
};

static void rows_free(void *state)
{
	struct rows *rows = state;

	if (!rows)
		return;
	json_free(rows->json);
	paths_free(&rows->chains);
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
	rows->chains = (struct paths){
		.report = report, .number = paths_function, .arg = report->frames};
	if (rows->json && paths_init(&rows->chains) == 0)
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

/* Writes why the vCPU was not in the guest's code, without the brackets: "io out 0x3f8";
 * nothing if it was. */
static void put_exit(struct json *json, uint64_t exit)
{
	char name[EXIT_NAME_SIZE] = "";

	if (exit)
		exit_reason(exit, name);
	json_string(json, "exit", name);
}

/* The fields that rows share */
struct row_texts {
	char time[TEXT_TIME_SIZE]; /* empty if unknown */
	char host[sizeof(((struct recording_info *)0)->host)];
	uint32_t domain; /* index of the domain that the rest is for */
	char name[DOMAIN_NAME_SIZE], space[DOMAIN_SPACE_SIZE], comm[RECORDING_COMM];
	char thread[RECORDING_COMM];
	uint64_t id, pid, tid;
};

static void set_time(const struct rows *rows, struct row_texts *texts, uint64_t second)
{
	const struct recording_info *info = &rows->report->summary->info;

	*texts->time = 0;
	if (info->wall_start && second <= UINT64_MAX / NS_PER_S)
		text_time(texts->time, second * NS_PER_S, true);
	text_clean(texts->host, info->host);
}

static void set_domain(const struct rows *rows, struct row_texts *texts, uint32_t domain)
{
	const struct recording_domain *of = summary_domain(rows->report->summary, domain);

	texts->domain = domain;
	domain_plain_name(texts->name, of);
	text_clean(texts->name, texts->name);
	domain_space(texts->space, of);
	text_clean(texts->comm, of ? of->process.comm : "");
	text_clean(texts->thread, of ? of->process.thread : "");
	texts->id = of ? of->id : 0;
	texts->pid = of ? of->process.pid : 0;
	texts->tid = of ? of->process.tid : 0;
}

static int put_stack(struct rows *rows, uint32_t chain)
{
	const uint32_t *functions;
	uint32_t count = paths_list(&rows->chains, chain, &functions);

	json_array(rows->json, "stack");
	for (uint32_t i = 0; i < count; i++)
		json_string(rows->json, NULL,
			    frames_function_name(rows->report->frames, functions[i]));
	json_end(rows->json);
	return count ? 0 : -1;
}

static int put_row(struct rows *rows, const struct row_texts *texts,
		   const struct row *row)
{
	const struct report *report = rows->report;
	struct json *json = rows->json;
	uint32_t state = (uint32_t)(row->chain >> 32);

	json_object(json, NULL);
	if (*texts->time)
		json_string(json, "time", texts->time);
	else
		json_null(json, "time");
	json_number(json, "second",
		    row->second - report->summary->info.wall_start / NS_PER_S);
	json_string(json, "host", texts->host);
	json_string(json, "domain", texts->name);
	json_number(json, "domain_id", texts->id);
	json_string(json, "space", texts->space);
	json_number(json, "pid", texts->pid);
	json_string(json, "comm", texts->comm);
	json_number(json, "tid", texts->tid);
	json_string(json, "thread", texts->thread);
	if (state == STATE_WAITING)
		json_null(json, "vcpu");
	else
		json_number(json, "vcpu", (uint32_t)row->vcpu);
	json_string(json, "state",
		    state == STATE_WAITING ? "waiting" : vcpu_state_name(state));
	put_exit(json, row->exit);
	if (put_stack(rows, (uint32_t)row->chain) < 0)
		return -1;
	json_number(json, measure_name(report->measure), row->count);
	json_end(json);
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->second != y->second)
		return x->second < y->second ? -1 : 1;
	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu ? -1 : 1;
	if (x->chain != y->chain)
		return x->chain < y->chain ? -1 : 1;
	return (x->exit > y->exit) - (x->exit < y->exit);
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
	struct row_texts texts;

	merge_rows(rows);
	for (size_t i = 0; i < rows->row_count && !ferror(rows->report->out); i++) {
		const struct row *row = &rows->row[i];
		uint32_t domain = (uint32_t)(row->vcpu >> 32);

		if (i == 0 || row->second != row[-1].second)
			set_time(rows, &texts, row->second);
		if (i == 0 || domain != texts.domain)
			set_domain(rows, &texts, domain);
		if (put_row(rows, &texts, row) < 0)
			return -1;
	}
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
	uint32_t chain = paths_find(&rows->chains, sample->stack);
	const struct row row = {.second = second,
				.vcpu = (uint64_t)sample->domain << 32 | sample->vcpu,
				.chain = (uint64_t)sample->state << 32 | chain,
				.exit = sample->exit,
				.count = sample->count};

	if (chain == TREE_NONE)
		return -1;
	if (rows->row_count && second != rows->row->second && put_rows(rows) < 0)
		return -1;
	return add_row(rows, &row);
}

/* Waits come thread by thread, so their rows are written at the end. */
static int rows_wait(void *state, const struct counted_wait *wait)
{
	struct rows *rows = state;
	uint32_t chain = paths_find(&rows->chains, wait->stack);
	const struct row row = {.second = second_of(rows->report->summary, wait->from),
				.vcpu = (uint64_t)wait->domain << 32,
				.chain = (uint64_t)STATE_WAITING << 32 | chain,
				.count = wait->count};

	return chain == TREE_NONE ? -1 : add_row(rows, &row);
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
	.counts_waits = true,
	.splits_waits = true,
	.sample = rows_sample,
	.wait = rows_wait,
	.end = rows_end,
	.free = rows_free,
};

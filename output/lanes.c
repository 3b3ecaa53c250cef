/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/tree.h"
#include "format/buffer.h"
#include "output/write/outfile.h"

/* A lane's runs go to the file when they take this many bytes. */
#define BLOCK_BYTES 4096

/* A part of a lane in the file */
struct block {
	uint64_t offset;
	size_t size;
};

struct full_lane {
	struct lane lane;
	struct lane_run last; /* the latest run, which may grow; none if its count is 0 */
	uint64_t time;	      /* time of the latest sample, ns */
	bool is_mixed;	      /* the samples' times are not ascending */
	struct lane_run
		before;	    /* the last encoded run: runs are encoded as differences */
	struct buffer runs; /* encoded, not in the file yet */
	size_t run_count;   /* encoded in all */
	struct block *blocks;
	size_t block_count, block_room;
};

struct lanes {
	const struct report *report;
	enum lanes_kind kind;
	struct tree index;	 /* one root; keys: domain and vCPU */
	struct full_lane *lanes; /* by node of index, less 1, up to lanes_finish() */
	uint32_t count, room;
	struct spool spool;
	uint64_t spooled; /* bytes in the file */
};

struct lanes *lanes_new(const struct report *report, enum lanes_kind kind)
{
	struct lanes *lanes = calloc(1, sizeof(*lanes));

	if (!lanes)
		return NULL;
	lanes->report = report;
	lanes->kind = kind;
	if (tree_init(&lanes->index, 1) == 0)
		return lanes;
	free(lanes);
	return NULL;
}

void lanes_free(struct lanes *lanes)
{
	if (!lanes)
		return;
	for (uint32_t i = 0; i < lanes->count; i++) {
		buffer_free(&lanes->lanes[i].runs);
		free(lanes->lanes[i].blocks);
	}
	free(lanes->lanes);
	tree_free(&lanes->index);
	spool_close(&lanes->spool);
	free(lanes);
}

/* Returns the vCPU's lane, created if needed; NULL if out of memory. */
static struct full_lane *find_lane(struct lanes *lanes, uint32_t domain, uint32_t vcpu)
{
	uint32_t node = tree_intern(&lanes->index, 0, (uint64_t)domain << 32 | vcpu);

	if (node == TREE_NONE)
		return NULL;
	if (node > lanes->room) {
		uint32_t room = lanes->index.capacity;

		if (!array_grow(&lanes->lanes, room, sizeof(*lanes->lanes)))
			return NULL;
		lanes->room = room;
	}
	if (node > lanes->count)
		lanes->lanes[lanes->count++] = (struct full_lane){
			.lane = {.domain = domain, .vcpu = vcpu}};
	return &lanes->lanes[node - 1];
}

/* Moves the lane's runs to the file. */
static int spool_runs(struct lanes *lanes, struct full_lane *lane)
{
	struct spool *spool = &lanes->spool;

	if (!spool->out &&
	    spool_open(spool, lanes->report->recorded, lanes->report->why) < 0)
		return -1;
	if (lane->block_count == lane->block_room) {
		size_t room = lane->block_room * 2 + 16;

		if (!array_grow(&lane->blocks, room, sizeof(*lane->blocks)))
			return -1;
		lane->block_room = room;
	}
	lane->blocks[lane->block_count++] = (struct block){lanes->spooled,
							   lane->runs.size};
	lanes->spooled += lane->runs.size;
	fwrite(lane->runs.data, 1, lane->runs.size, spool->out);
	buffer_reset(&lane->runs);
	return spool_check(spool, lanes->report->why);
}

/* Encodes the lane's latest run, if there is one. */
static int encode_last(struct lanes *lanes, struct full_lane *lane)
{
	const struct lane_run *run = &lane->last;

	if (!run->count)
		return 0;
	buffer_put_signed(&lane->runs, (int64_t)(run->time - lane->before.time));
	buffer_put_varint(&lane->runs, run->count);
	buffer_put_signed(&lane->runs, (int64_t)run->stack - lane->before.stack);
	if (lane->runs.failed)
		return -1;
	lane->before = *run;
	lane->run_count++;
	return lane->runs.size < BLOCK_BYTES ? 0 : spool_runs(lanes, lane);
}

/* The inverse of encode_last(): sets @run, which is the run before. */
static void decode_next(struct cursor *cursor, struct lane_run *run)
{
	run->time += (uint64_t)cursor_signed(cursor);
	run->count = cursor_varint(cursor);
	run->stack = (uint32_t)(run->stack + cursor_signed(cursor));
}

int lanes_add(struct lanes *lanes, const struct counted_sample *sample)
{
	const struct recording_domain *domain = summary_domain(lanes->report->summary,
							       sample->domain);
	bool is_thread = domain && domain->process.tid;
	struct full_lane *lane = find_lane(lanes, sample->domain,
					   is_thread ? LANE_OF_THREAD : sample->vcpu);

	if (!lane)
		return -1;
	lane->is_mixed |= lane->last.count && sample->time < lane->time;
	lane->time = sample->time;
	if (lanes->kind == LANES_OF_CHAINS && lane->last.count &&
	    lane->last.stack == sample->stack && !lane->is_mixed) {
		lane->last.count += sample->count;
		return 0;
	}
	if (encode_last(lanes, lane) < 0)
		return -1;
	lane->last = (struct lane_run){sample->time, sample->count, sample->stack};
	return 0;
}

static int compare_lanes(const void *a, const void *b)
{
	const struct lane *x = &((const struct full_lane *)a)->lane;
	const struct lane *y = &((const struct full_lane *)b)->lane;
	int order = strcmp(x->name, y->name);

	if (order)
		return order;
	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu ? -1 : 1;
	return (x->domain > y->domain) - (x->domain < y->domain);
}

int lanes_finish(struct lanes *lanes)
{
	struct frames *frames = lanes->report->frames;

	for (uint32_t i = 0; i < lanes->count; i++) {
		struct full_lane *lane = &lanes->lanes[i];
		uint32_t name = frames_domain(frames, lane->lane.domain);

		if (name == FRAMES_NONE || encode_last(lanes, lane) < 0)
			return -1;
		lane->lane.name = frames_function_name(frames, name);
	}
	if (lanes->count)
		qsort(lanes->lanes, lanes->count, sizeof(*lanes->lanes), compare_lanes);
	return lanes->spool.out ? spool_read(&lanes->spool, lanes->report->why) : 0;
}

uint32_t lanes_count(const struct lanes *lanes)
{
	return lanes->count;
}

const struct lane *lanes_get(const struct lanes *lanes, uint32_t number)
{
	return &lanes->lanes[number].lane;
}

size_t lanes_runs(const struct lanes *lanes, uint32_t number)
{
	return lanes->lanes[number].run_count;
}

/* The visit of a lane's runs */
struct visit {
	int (*run)(void *arg, const struct lane_run *run);
	void *arg;
};

static int visit_encoded(struct cursor runs, struct lane_run *run,
			 const struct visit *visit)
{
	while (runs.at != runs.end) {
		decode_next(&runs, run);
		if (visit->run(visit->arg, run) < 0)
			return -1;
	}
	return 0;
}

/* Reads the block of the file into @to. -1 with report->why set if it can't be read. */
static int read_block(struct lanes *lanes, const struct block *block, uint8_t *to)
{
	FILE *in = lanes->spool.in;

	if (fseeko(in, (off_t)block->offset, SEEK_SET) == 0 &&
	    fread(to, 1, block->size, in) == block->size)
		return 0;
	return error_set(lanes->report->why, "can't read a temporary file");
}

/* Visits the runs in the order of the samples. */
static int visit_runs(struct lanes *lanes, const struct full_lane *lane,
		      const struct visit *visit)
{
	uint8_t data[BLOCK_BYTES + 64]; /* a run takes at most 30 bytes */
	struct lane_run run = {0};

	for (size_t i = 0; i < lane->block_count; i++) {
		const struct block *block = &lane->blocks[i];

		if (read_block(lanes, block, data) < 0 ||
		    visit_encoded((struct cursor){.at = data, .end = data + block->size},
				  &run, visit) < 0)
			return -1;
	}
	return visit_encoded(cursor_of(&lane->runs), &run, visit);
}

static int compare_runs(const void *a, const void *b)
{
	const struct lane_run *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

static int store_run(void *arg, const struct lane_run *run)
{
	struct lane_run **next = arg;

	*(*next)++ = *run;
	return 0;
}

/* Visits the runs of a lane in the order of time. -1 also if out of memory. */
static int visit_sorted(struct lanes *lanes, const struct full_lane *lane,
			const struct visit *visit)
{
	struct lane_run *runs = NULL, *next;
	int status = -1;

	if (!array_grow(&runs, lane->run_count, sizeof(*runs)))
		return -1;
	next = runs;
	if (visit_runs(lanes, lane, &(struct visit){store_run, &next}) < 0)
		goto out;
	qsort(runs, lane->run_count, sizeof(*runs), compare_runs);
	status = 0;
	for (size_t i = 0; i < lane->run_count && status == 0; i++)
		status = visit->run(visit->arg, &runs[i]);
out:
	free(runs);
	return status;
}

int lanes_visit(struct lanes *lanes, uint32_t number,
		int (*visit)(void *arg, const struct lane_run *run), void *arg)
{
	const struct full_lane *lane = &lanes->lanes[number];
	const struct visit what = {visit, arg};

	return lane->is_mixed ? visit_sorted(lanes, lane, &what)
			      : visit_runs(lanes, lane, &what);
}

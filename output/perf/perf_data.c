/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A file as written by `perf record -g`, for perf itself (report, script, diff, annotate)
 * and other readers, such as hotspot. Its head is report/ perf_head.c's; these are its
 * records, laid out as in include/uapi/linux/perf_event.h. Everything is in this
 * machine's byte order, which perf detects.
 *
 * Domains, vCPUs and counts are as described in perf.h. All samples are in user mode:
 * perf would resolve kernel addresses with the kernel it runs on, while it finds an ELF
 * file by the mappings of a process, whatever the address. Names from lists (nm,
 * kallsyms) are not in the file, as the format has no place for them: those addresses
 * have no names. Samples are in the recording's order, which is nearly that of time; perf
 * keeps it if records other than samples have no time (no sample_id_all;
 * tools/perf/util/session.c, perf_session__new()).
 */
#include "output/output.h"

#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "output/perf/perf.h"
#include "output/write/outfile.h"

/* tools/lib/perf/include/perf/event.h */
#define RECORD_FINISHED_ROUND 68

struct perf_data {
	const struct report *report;
	FILE *file;	    /* the report's output, or the spool's if that can't seek */
	struct spool spool; /* a temporary file */
	struct perf_maps maps;
	struct perf_threads names; /* the threads of the samples */
	struct tree threads;	   /* threads already in the file: one root, pids, tids */
	uint64_t *callers;	   /* by node of the stacks: its address as a caller */
	uint32_t caller_count, caller_room;
	struct perf_span span;
};

/* Whether the start of the file can be rewritten at the end. */
static bool can_seek(FILE *file)
{
	return ftello(file) == 0 && fseeko(file, 0, SEEK_SET) == 0;
}

static void perf_data_free(void *state)
{
	struct perf_data *data = state;

	if (!data)
		return;
	spool_close(&data->spool);
	perf_maps_free(&data->maps);
	perf_threads_free(&data->names);
	tree_free(&data->threads);
	free(data->callers);
	free(data);
}

static void *perf_data_begin(const struct report *report)
{
	struct perf_data *data = calloc(1, sizeof(*data));

	if (!data)
		return NULL;
	data->report = report;
	data->file = report->out;
	if (!can_seek(report->out)) {
		spool_open(&data->spool, report->recorded, report->why);
		data->file = data->spool.out;
	}
	if (perf_maps_init(&data->maps, report->sources) < 0 ||
	    perf_threads_init(&data->names, report->summary) < 0 ||
	    tree_init(&data->threads, 1) < 0 || !data->file) {
		perf_data_free(data);
		return NULL;
	}
	perf_head_reserve(data->file);
	return data;
}

/* Writes a record that ends with @text, padded with zero bytes to make the record's size
 * a multiple of 8. */
static void put_record(FILE *file, struct perf_event_header *header, size_t size,
		       const char *text)
{
	static const char zeros[8];
	size_t length = strlen(text), padding = 8 - (size + length) % 8;

	header->size = (uint16_t)(size + length + padding);
	fwrite(header, 1, size, file);
	fwrite(text, 1, length, file);
	fwrite(zeros, 1, padding, file);
}

static void put_comm(FILE *file, uint32_t pid, uint32_t tid, const char *comm)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
	} record = {
		.header = {.type = PERF_RECORD_COMM},
		.pid = pid,
		.tid = tid,
	};

	put_record(file, &record.header, sizeof(record), comm);
}

/* PERF_RECORD_MMAP2, which the headers before Linux 3.12 lack. */
#define RECORD_MMAP2 10

static void put_map(FILE *file, uint32_t pid, const struct perf_map *map)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t address, size, offset;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t protection, flags;
	} record = {
		.header = {.type = RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER},
		.pid = pid,
		.tid = pid,
		.address = map->segment.address,
		.size = map->segment.size,
		.offset = map->segment.offset,
		.protection = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
	};

	/* the size of perf's buffer for a path */
	if (strlen(map->path) < PATH_MAX)
		put_record(file, &record.header, sizeof(record), map->path);
}

/* Writes the records that perf needs before the thread's first sample. -1 if out of
 * memory. */
static int add_thread(struct perf_data *data, const struct perf_thread *thread,
		      uint32_t domain)
{
	const struct recording_domain *of = summary_domain(data->report->summary, domain);
	uint32_t before = data->threads.count;
	uint32_t process = tree_intern(&data->threads, 0, thread->pid);
	bool new_process = data->threads.count > before;
	uint32_t node = process == TREE_NONE
				? TREE_NONE
				: tree_intern(&data->threads, process, thread->tid);

	if (node == TREE_NONE || perf_maps_update(&data->maps) < 0)
		return -1;
	if (new_process) {
		put_comm(data->file, thread->pid, thread->pid, thread->leader);
		/* The last mapping of an address is used. */
		for (size_t i = data->maps.count; i-- > 0;)
			if (perf_map_is_for(&data->maps, &data->maps.list[i], of, domain))
				put_map(data->file, thread->pid, &data->maps.list[i]);
	}
	if (data->threads.count > before)
		put_comm(data->file, thread->pid, thread->tid, thread->comm);
	return 0;
}

/* perf treats the highest addresses as marks such as PERF_CONTEXT_USER. There is no code
 * there, but a bogus chain can contain any address. */
static uint64_t plain_address(uint64_t address)
{
	uint64_t most = (uint64_t)PERF_CONTEXT_MAX - 1;

	return address > most ? most : address;
}

/* One sample; its fields are in the order of PERF_RECORD_SAMPLE, as selected by
 * PERF_HEAD_SAMPLE_TYPE. */
struct sample_record {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t period, chain_length;
	uint64_t chain[RECORDING_MAX_DEPTH];
};

/* Looks up each node once. -1 if out of memory. */
static int fill_callers(struct perf_data *data, const struct stacks *stacks)
{
	uint32_t count = stacks->tree.count;

	if (count > data->caller_room) {
		uint32_t room = stacks->tree.capacity;

		if (!array_grow(&data->callers, room, sizeof(*data->callers)))
			return -1;
		data->caller_room = room;
	}
	for (uint32_t i = data->caller_count; i < count; i++) {
		uint64_t address = stacks->tree.nodes[i].key;

		if (stacks_is_address(stacks, i))
			address = frames_return_address(data->report->frames,
							stacks->domain[i], address);
		data->callers[i] = plain_address(address);
	}
	data->caller_count = count;
	return 0;
}

/* Readers take a chain's addresses for the sample's mode, which is that of users, until a
 * mark such as PERF_CONTEXT_KERNEL says otherwise. */
static void fill_chain(struct sample_record *record, const struct perf_data *data,
		       uint32_t stack)
{
	const struct stacks *stacks = data->report->stacks;
	const struct tree_node *nodes = stacks->tree.nodes;
	/* As in perf's text, one frame if there is none. */
	bool is_address = stacks_is_address(stacks, stack);

	record->ip = is_address ? plain_address(nodes[stack].key) : 0;
	record->chain[0] = record->ip;
	record->chain_length = 1;
	if (!is_address)
		return;
	while (stacks_is_address(stacks, stack = nodes[stack].parent))
		record->chain[record->chain_length++] = data->callers[stack];
}

static void add_to_span(struct perf_span *span, uint64_t time)
{
	if (!span->any || time < span->first)
		span->first = time;
	if (!span->any || time > span->last)
		span->last = time;
	span->any = true;
}

static int perf_data_sample(void *state, const struct counted_sample *sample)
{
	struct perf_data *data = state;
	const struct measure *measure = data->report->measure;
	struct perf_thread thread;
	struct sample_record record;

	perf_thread(&data->names, &thread, sample->domain, sample->vcpu);
	if (add_thread(data, &thread, sample->domain) < 0 ||
	    fill_callers(data, data->report->stacks) < 0)
		return -1;
	record.header = (struct perf_event_header){
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
	};
	record.pid = thread.pid;
	record.tid = thread.tid;
	record.time = sample->time;
	record.cpu = sample->vcpu;
	record.reserved = 0;
	add_to_span(&data->span, sample->time);
	record.period = perf_period(measure, sample);
	fill_chain(&record, data, sample->stack);
	record.header.size = (uint16_t)(offsetof(struct sample_record, chain) +
					record.chain_length * sizeof(*record.chain));
	fwrite_unlocked(&record, 1, record.header.size, data->file);
	return spool_check(&data->spool, data->report->why);
}

/* Copies the temporary file to the report's output. */
static int copy_spool(struct spool *spool, const struct report *report)
{
	char buffer[1 << 16];
	size_t got;

	if (spool_read(spool, report->why) < 0)
		return -1;
	while ((got = fread(buffer, 1, sizeof(buffer), spool->in)) > 0)
		if (fwrite(buffer, 1, got, report->out) < got)
			return 0; /* reported when the output is closed */
	return spool_check(spool, report->why);
}

static int perf_data_end(void *state)
{
	struct perf_data *data = state;
	/* perf treats a file without records as truncated. */
	const struct perf_event_header last = {
		.type = RECORD_FINISHED_ROUND,
		.size = sizeof(last),
	};

	fwrite(&last, sizeof(last), 1, data->file);
	perf_head_finish(data->file, data->report, &data->maps, &data->span);
	return data->spool.out ? copy_spool(&data->spool, data->report) : 0;
}

const struct output output_perf_data = {
	.name = "perf-data",
	.about = "a perf.data file, for perf report, script, diff, and hotspot",
	.is_binary = true,
	.begin = perf_data_begin,
	.sample = perf_data_sample,
	.end = perf_data_end,
	.free = perf_data_free,
};

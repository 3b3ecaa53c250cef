/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A file as `perf record -g` writes it, for perf itself (report, script, diff,
 * annotate) and what reads its files, such as hotspot. Its head is report/
 * perf_head.c's; these are its records, as include/uapi/linux/perf_event.h lays them
 * out. All of it is in this machine's byte order, by which perf knows the file's.
 *
 * Domains, vCPUs and counts are what report/perf.h says. All samples are of user
 * mode: perf would name a kernel's addresses from the kernel that perf runs on, and
 * it is by mappings in processes that it finds an ELF file, whatever the address.
 * Names in lists (nm, kallsyms) don't get into the file, as perf has no place for
 * them: those addresses stay without names. Samples are in the recording's order,
 * which is nearly that of time; perf leaves it as it is where records but samples
 * have no time (no sample_id_all; tools/perf/util/session.c, perf_session__new()).
 */
#include "report/output.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/perf.h"
#include "report/perf_head.h"

/* tools/lib/perf/include/perf/event.h */
#define RECORD_FINISHED_ROUND 68

struct perf_data {
	const struct report *report;
	FILE *file; /* the report's output, or a temporary one where that can't seek */
	struct perf_maps maps;
	struct perf_threads names; /* of the threads */
	struct tree threads;	   /* those in the file: one root, pids, tids */
	uint64_t *callers; /* by node of the stacks: its address in chains of others */
	uint32_t caller_count, caller_room;
};

/* Whether the file can be written from its start again, at its end. */
static bool can_seek(FILE *file)
{
	struct stat st;
	int flags = fcntl(fileno(file), F_GETFL);

	return fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode) && flags >= 0 &&
	       !(flags & O_APPEND) && ftello(file) == 0;
}

static void perf_data_free(void *state)
{
	struct perf_data *data = state;

	if (!data)
		return;
	if (data->file && data->file != data->report->out)
		fclose(data->file);
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
	data->file = can_seek(report->out) ? report->out : tmpfile();
	if (perf_maps_init(&data->maps, report->sources) < 0 ||
	    perf_threads_init(&data->names, report->summary) < 0 ||
	    tree_init(&data->threads, 1) < 0 || !data->file) {
		perf_data_free(data);
		return NULL;
	}
	perf_head_reserve(data->file);
	return data;
}

/* Writes a record that ends with @text, which takes as many zero bytes as make the
 * record's size a multiple of 8. */
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
		.header = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER},
		.pid = pid,
		.tid = pid,
		.address = map->segment.address,
		.size = map->segment.size,
		.offset = map->segment.offset,
		.protection = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
	};

	/* perf's own room for a path */
	if (strlen(map->path) < PATH_MAX)
		put_record(file, &record.header, sizeof(record), map->path);
}

/* Writes what perf has to know before the thread's first sample. -1 when memory is
 * short. */
static int add_thread(struct perf_data *data, const struct perf_thread *thread,
		      const struct recording_domain *domain)
{
	uint32_t before = data->threads.count;
	uint32_t process = tree_intern(&data->threads, 0, thread->pid);
	bool new_process = data->threads.count > before;
	uint32_t node = process == TREE_NONE
				? TREE_NONE
				: tree_intern(&data->threads, process, thread->tid);

	if (node == TREE_NONE)
		return -1;
	if (new_process) {
		put_comm(data->file, thread->pid, thread->pid, thread->comm);
		/* The last mapping of an address counts. */
		for (size_t i = data->maps.count; i-- > 0;)
			if (source_is_for(data->maps.list[i].source, domain))
				put_map(data->file, thread->pid, &data->maps.list[i]);
	}
	if (data->threads.count > before)
		put_comm(data->file, thread->pid, thread->tid, thread->comm);
	return 0;
}

/* perf takes the highest addresses for marks such as PERF_CONTEXT_USER. No code is
 * there, but a chain that is no chain may have any address. */
static uint64_t plain_address(uint64_t address)
{
	uint64_t most = (uint64_t)PERF_CONTEXT_MAX - 1;

	return address > most ? most : address;
}

/* One sample; the order of its parts is that of PERF_RECORD_SAMPLE's, as far as
 * PERF_HEAD_SAMPLE_TYPE has them. */
struct sample_record {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time, id;
	uint32_t cpu, reserved;
	uint64_t period, chain_length;
	uint64_t chain[1 + RECORDING_MAX_DEPTH];
};

/* Looks up each node once. -1 when memory is short. */
static int fill_callers(struct perf_data *data, const struct stacks *stacks)
{
	uint32_t count = stacks->tree.count;

	if (count > data->caller_room) {
		uint32_t room = stacks->tree.capacity;
		uint64_t *grown = realloc(data->callers, room * sizeof(*grown));

		if (!grown)
			return -1;
		data->callers = grown;
		data->caller_room = room;
	}
	for (uint32_t i = data->caller_count; i < count; i++) {
		uint64_t address = stacks->tree.nodes[i].key;

		if (stacks_is_address(stacks, i))
			address = perf_return_address(
				data->report->sources,
				summary_domain(data->report->summary, stacks->domain[i]),
				address);
		data->callers[i] = plain_address(address);
	}
	data->caller_count = count;
	return 0;
}

static void fill_chain(struct sample_record *record, const struct perf_data *data,
		       uint32_t stack)
{
	const struct stacks *stacks = data->report->stacks;
	const struct tree_node *nodes = stacks->tree.nodes;
	/* As in perf's text, one frame where there is none. */
	bool is_address = stacks_is_address(stacks, stack);

	record->ip = is_address ? plain_address(nodes[stack].key) : 0;
	record->chain[0] = PERF_CONTEXT_USER;
	record->chain[1] = record->ip;
	record->chain_length = 2;
	if (!is_address)
		return;
	while (stacks_is_address(stacks, stack = nodes[stack].parent))
		record->chain[record->chain_length++] = data->callers[stack];
}

static int perf_data_sample(void *state, const struct output_sample *sample)
{
	struct perf_data *data = state;
	const struct measure *measure = data->report->measure;
	const struct recording_domain *domain = summary_domain(data->report->summary,
							       sample->domain);
	uint64_t times = perf_times(measure, sample);
	struct perf_thread thread;
	struct sample_record record;

	perf_thread(&data->names, &thread, sample->domain, sample->vcpu);
	if (add_thread(data, &thread, domain) < 0 ||
	    fill_callers(data, data->report->stacks) < 0)
		return -1;
	record.header = (struct perf_event_header){
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
	};
	record.pid = thread.pid;
	record.tid = thread.tid;
	record.time = sample->time;
	record.id = PERF_HEAD_EVENT_ID;
	record.cpu = sample->vcpu;
	record.reserved = 0;
	record.period = perf_period(measure, sample);
	fill_chain(&record, data, sample->stack);
	record.header.size = (uint16_t)(offsetof(struct sample_record, chain) +
					record.chain_length * sizeof(*record.chain));
	for (uint64_t i = 0; i < times && !ferror(data->file); i++)
		fwrite(&record, 1, record.header.size, data->file);
	return ferror(data->file) && data->file != data->report->out ? -1 : 0;
}

static int copy(FILE *from, FILE *to)
{
	char buffer[1 << 16];
	size_t got;

	rewind(from);
	while ((got = fread(buffer, 1, sizeof(buffer), from)) > 0)
		if (fwrite(buffer, 1, got, to) < got)
			return 0; /* whoever closes it says why */
	return ferror(from) ? -1 : 0;
}

static int perf_data_end(void *state)
{
	struct perf_data *data = state;
	/* perf takes a file without any records for one that was cut short. */
	const struct perf_event_header last = {
		.type = RECORD_FINISHED_ROUND,
		.size = sizeof(last),
	};

	fwrite(&last, sizeof(last), 1, data->file);
	perf_head_finish(data->file, data->report, &data->maps);
	if (data->file == data->report->out)
		return 0;
	return ferror(data->file) ? -1 : copy(data->file, data->report->out);
}

const struct output output_perf_data = {
	.name = "perf-data",
	.about = "a perf.data file, for perf report, script, diff, and hotspot",
	.begin = perf_data_begin,
	.sample = perf_data_sample,
	.end = perf_data_end,
	.free = perf_data_free,
};

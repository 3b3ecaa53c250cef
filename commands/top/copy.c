/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/copy.h"

#include "format/reader.h"

/* Returns INFO of the copy, which starts after the last sample left out. */
static struct recording_info copy_info(const struct copy *copy)
{
	const struct summary *summary = copy->summary;
	struct recording_info info = summary->info;
	uint64_t skipped;

	if (!summary->has_info) {
		info.version = RECORDING_VERSION;
		info.monotonic_start = summary->first_time;
	}
	if (copy->start <= info.monotonic_start)
		return info;
	skipped = copy->start - info.monotonic_start;
	info.monotonic_start += skipped;
	if (info.wall_start)
		info.wall_start += skipped;
	return info;
}

int copy_begin(struct copy *copy, struct error *err)
{
	const struct summary *summary = copy->summary;
	const struct recording_info info = copy_info(copy);

	if (copy->writer)
		return 0;
	copy->writer = writer_new(copy->fd, &info, NULL, 0, err);
	if (!copy->writer)
		return -1;
	writer_compress_fast(copy->writer);
	for (size_t i = 0; i < summary->domain_room; i++)
		if (summary->domains[i] &&
		    writer_domain(copy->writer, summary->domains[i], err) < 0)
			return -1;
	return 0;
}

static int copy_domain(void *arg, struct recording_domain *domain, struct error *err)
{
	struct copy *copy = arg;

	/* copy_begin() describes the domains known by then. */
	return copy->writer ? writer_domain(copy->writer, domain, err) : 0;
}

static int copy_names(void *arg, const struct name_list_reader *names, struct error *err)
{
	struct name_list_reader left = *names;
	struct recording_name name;
	struct copy *copy = arg;

	if (copy_begin(copy, err) < 0)
		return -1;
	while (name_list_next(&left, &name))
		if (writer_name(copy->writer, &name, err) < 0)
			return -1;
	return writer_flush(copy->writer, err);
}

/* Notes that the copy has a process in this address space. -1 if out of memory. */
static int note_process(struct copy *copy, uint32_t domain, uint64_t space)
{
	uint32_t node;

	if (!copy->selects)
		return 0;
	node = tree_intern(&copy->processes, 0, domain);
	if (node != TREE_NONE)
		node = tree_intern(&copy->processes, node, space);
	return node == TREE_NONE ? -1 : 0;
}

/* Whether the copy has a process in this address space, as far as it selects them. */
static bool has_process(const struct copy *copy, uint32_t domain, uint64_t space)
{
	uint32_t node;

	if (!copy->selects)
		return true;
	node = tree_find(&copy->processes, 0, domain);
	return node != TREE_NONE && tree_find(&copy->processes, node, space) != TREE_NONE;
}

static int write_mappings(void *arg, const struct mapping_list_reader *mappings,
			  struct error *err)
{
	struct mapping_list_reader left = *mappings;
	struct recording_mapping mapping;
	struct copy *copy = arg;

	if (copy_begin(copy, err) < 0)
		return -1;
	while (mapping_list_next(&left, &mapping))
		if (has_process(copy, mapping.domain, mapping.space) &&
		    writer_mapping(copy->writer, &mapping, err) < 0)
			return -1;
	return writer_flush(copy->writer, err);
}

static int copy_mappings(void *arg, const struct mapping_list_reader *mappings,
			 struct error *err)
{
	const struct copy *copy = arg;

	return copy->selects ? 0 : write_mappings(arg, mappings, err);
}

static int copy_program(void *arg, const struct recording_program *program,
			struct error *err)
{
	struct copy *copy = arg;

	return copy_begin(copy, err) < 0 ? -1
					 : writer_program(copy->writer, program, err);
}

/* Returns the time of the latest sample; 0 if there is none. */
static uint64_t batch_newest(const struct samples_batch *batch)
{
	uint64_t newest = 0;

	for (size_t i = 0; i < batch->count; i++)
		if (batch->time[i] > newest)
			newest = batch->time[i];
	return newest;
}

static int note_samples(struct copy *copy, const struct samples_batch *batch,
			struct error *err)
{
	for (size_t i = 0; i < batch->count; i++)
		if (note_process(copy, batch->domain[i],
				 batch->processes[batch->process[i]].space) < 0)
			return error_set(err, "out of memory");
	return 0;
}

int copy_samples(struct copy *copy, const struct samples_batch *batch,
		 const struct chunk_read *read, struct error *err)
{
	uint64_t newest = batch_newest(batch);

	if (newest < copy->from) {
		if (newest > copy->start)
			copy->start = newest;
		return 0;
	}
	if (copy_begin(copy, err) < 0 || note_samples(copy, batch, err) < 0)
		return -1;
	return writer_samples(copy->writer, read, batch, err);
}

static int add_wait(struct copy *copy, const struct wait *wait, struct error *err)
{
	if (note_process(copy, wait->domain, wait->process.space) < 0)
		return error_set(err, "out of memory");
	return writer_wait(copy->writer, wait, err);
}

/* Writes the waits added so far as a chunk. */
static int put_waits(struct copy *copy, const struct waits_counts *counts,
		     struct error *err)
{
	*writer_waits_counts(copy->writer) = *counts;
	writer_waits(copy->writer);
	return writer_flush(copy->writer, err);
}

int copy_flush(struct copy *copy, struct error *err)
{
	struct old_waits *old = &copy->waits;
	int status = 0;

	if (!old->counts.until)
		return 0;
	if (copy_begin(copy, err) < 0)
		return -1;
	for (uint32_t i = 0; i < old->room && status == 0; i++)
		if (old->goes_on[i])
			status = add_wait(copy, &old->list[i], err);
	if (status == 0)
		status = put_waits(copy, &old->counts, err);
	old_waits_free(old);
	return status;
}

int copy_waits(struct copy *copy, const struct waits_batch *batch, struct error *err)
{
	uint64_t address[RECORDING_MAX_DEPTH];

	if (batch->counts.until < copy->from)
		return old_waits_add(&copy->waits, batch) < 0
			       ? error_set(err, "out of memory")
			       : 0;
	if (copy_flush(copy, err) < 0 || copy_begin(copy, err) < 0)
		return -1;
	for (size_t i = 0; i < batch->samples.count; i++) {
		const struct wait wait = waits_batch_wait(batch, i, address);

		if (add_wait(copy, &wait, err) < 0)
			return -1;
	}
	return put_waits(copy, &batch->counts, err);
}

static int visit_waits(void *arg, struct waits_batch *batch, struct error *err)
{
	return copy_waits(arg, batch, err);
}

static int copy_chunk(void *arg, const struct samples_batch *batch,
		      const struct chunk_read *read, struct error *err)
{
	return copy_samples(arg, batch, read, err);
}

struct load_visitor copy_visitor(struct copy *copy)
{
	return (struct load_visitor){
		.domain = copy_domain,
		.names = copy_names,
		.mappings = copy_mappings,
		.program = copy_program,
		.chunk = copy_chunk,
		.waits = visit_waits,
		.arg = copy,
	};
}

int copy_end(struct copy *copy, struct error *err)
{
	const struct summary *summary = copy->summary;
	struct recording_end end = {.reason = END_SIGNAL,
				    .monotonic = summary->last_time};

	if (summary->has_end)
		end = summary->end;
	if (end.monotonic < copy->start)
		end.monotonic = copy->start;
	if (copy_flush(copy, err) < 0 || copy_begin(copy, err) < 0)
		return -1;
	return writer_end(copy->writer, &end, err);
}

void copy_free(struct copy *copy)
{
	writer_free(copy->writer);
	copy->writer = NULL;
	old_waits_free(&copy->waits);
	tree_free(&copy->processes);
	copy->processes = (struct tree){0};
}

/* Copies the mappings of the processes in the copy, which are all of them from then on.
 */
static int copy_selected(struct copy *copy, const struct input *input, struct error *err)
{
	const struct load_visitor visitor = {.mappings = write_mappings, .arg = copy};
	int status = 0;

	if (copy->selects)
		status = input_rewind(input, err) < 0 ? -1
						      : load_names(input, &visitor, err);
	copy->selects = false;
	return status;
}

int copy_file(struct copy *copy, int fd, const char *path, uint64_t from,
	      struct summary *summary, struct error *err)
{
	const struct load_visitor visitor = copy_visitor(copy);
	struct input input;
	struct load *load;
	int status = -1;

	*copy = (struct copy){.fd = fd, .summary = summary, .from = from};
	if (input_open(&input, path, err) < 0)
		return -1;
	copy->selects = from && load_has_mappings(&input) &&
			tree_init(&copy->processes, 1) == 0;
	load = load_follow(&input, summary, &visitor, err);
	if (load && load_more(load, err) >= 0)
		status = copy_flush(copy, err);
	if (status == 0)
		status = copy_begin(copy, err);
	if (status == 0)
		status = copy_selected(copy, &input, err);
	load_free(load);
	input_close(&input);
	return status;
}

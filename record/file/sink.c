/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/file/sink.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/compat.h"
#include "record/safety/priority.h"
#include "record/file/link_check.h"
#include "record/file/ring.h"
#include "record/safety/privileges.h"

/* Size of the ring, bytes: space for 0.2 s of 8 vCPUs with 60 frames at 10,000 Hz */
#define RING_SIZE (8u << 20)

/* Time between two looks for entries, ns, and age at which samples are flushed, ns:
 * samples are written before they are a second old, even on a busy host. */
#define LOOK_NS	 (NS_PER_S / 20)
#define FLUSH_NS (NS_PER_S * 8 / 10)

/* Time that the end of a recording may take before it can be interrupted, ns */
#define PATIENCE_NS (2 * NS_PER_S)

/* An entry of the ring is a struct entry, followed by is_found and shift of the table's
 * programs (struct placed_table), if there is one, and by the samples of a round, each
 * with its chain and, if there is a table, with its programs (struct round); or by the
 * description of a domain; or by the names of a domain's kernel; or by the mappings of a
 * process; or by a wait with its chain; or by the counts of waits. */
enum entry_kind {
	ENTRY_ROUND,
	ENTRY_DOMAIN,
	ENTRY_KERNEL,
	ENTRY_MAPPINGS,
	ENTRY_WAIT,
	ENTRY_WAITS,
};

/* Names of a kernel, or mappings, in the ring: only where they are. */
struct owned_entry {
	uint32_t domain;
	void *data;
};

struct entry {
	enum entry_kind kind;
	uint64_t missed;
	const struct program_table *table; /* table of the round's guest; NULL: none */
	uint64_t pause[ROUND_PAUSES];
	uint32_t pauses;
	uint32_t samples;
};

struct sink {
	struct series *series;
	struct meter *meter; /* NULL: none */
	struct ring *ring;
	pthread_t thread;
	struct link_check *links;
	struct kernel_names *kernels;
	sem_t ready;
	sem_t stop;
	unsigned int files; /* atomic: number of files begun */
	int failed;	    /* atomic: set once @err has the reason */
	struct error err;
	struct ring_part *part; /* parts of one round of at most @vcpus samples */
	uint64_t vcpus;
	struct sampling_counts spill; /* counts of rounds that did not fit in the ring */
	struct recording_end *end;    /* totals; set before the thread is told to stop */
	/* By domain, a bit each: whether a mark in chains has a name in the current file.
	 */
	struct named_marks {
		uint8_t gap[(RECORDING_MAX_DOMAIN + 1) / 8];
		uint8_t interrupt[(RECORDING_MAX_DOMAIN + 1) / 8];
	} named;
};

/* Names a mark unless it is named already, so that a reader shows it like a function. */
static int name_mark(struct sink *sink, uint32_t domain, uint64_t mark, uint8_t *named)
{
	const char *text = chain_mark_name(mark);
	const struct recording_name name = {
		.domain = domain,
		/* A mark stands for a return address; its name starts at the call. */
		.address = mark - 1,
		.offset = (uint64_t)-1,
		.name = {text, strlen(text)},
	};
	uint8_t bit = (uint8_t)(1 << domain % 8);

	if (named[domain / 8] & bit)
		return 0;
	named[domain / 8] |= bit;
	return series_place(sink->series, &name, &sink->err);
}

static int name_marks(struct sink *sink, const struct sample *sample)
{
	uint32_t domain = sample->domain;

	if (chain_has_gap(&sample->chain) &&
	    name_mark(sink, domain, CHAIN_GAP, sink->named.gap) < 0)
		return -1;
	if (!chain_is_interrupted(&sample->chain))
		return 0;
	return name_mark(sink, domain, CHAIN_INTERRUPT, sink->named.interrupt);
}

/* Reads, from a ring's entry, where the guest has the programs of the table. Returns what
 * follows. */
static const uint8_t *read_placed(struct placed_table *placed, const uint8_t *from)
{
	size_t origins = placed->table ? placed->table->origins : 0;

	memcpy(placed->is_found, from, origins * sizeof(*placed->is_found));
	from += origins * sizeof(*placed->is_found);
	memcpy(placed->shift, from, origins * sizeof(*placed->shift));
	return from + origins * sizeof(*placed->shift);
}

/* Compares the links of a sample with the programs that are in its address space. */
static void check_links(struct sink *sink, const struct placed_table *placed,
			uint64_t programs, struct sample *sample, uint64_t *counts)
{
	struct placed_table here = *placed;

	for (size_t i = 0; i < placed->table->origins; i++)
		here.is_found[i] = placed->is_found[i] && programs >> i & 1;
	link_check_sample(sink->links, &here, sample, counts);
}

static int write_round(struct sink *sink, const struct entry *entry, const uint8_t *from)
{
	struct placed_table placed = {.table = entry->table};
	struct sampling_counts *counts;
	uint64_t weight = 0; /* equal for all samples of a round */
	struct sample sample;

	from = read_placed(&placed, from);
	if (entry->samples) {
		int status;

		memcpy(&sample, from, sizeof(sample));
		status = series_advance(sink->series, sample.time, &sink->err);
		if (status < 0)
			return -1;
		if (status > 0) {
			memset(&sink->named, 0, sizeof(sink->named));
			kernel_names_renew(sink->kernels);
			__atomic_add_fetch(&sink->files, 1, __ATOMIC_RELEASE);
		}
	}
	counts = series_counts(sink->series);
	counts->missed += entry->missed;
	for (uint32_t i = 0; i < entry->pauses; i++)
		pauses_add(&counts->pauses, entry->pause[i]);
	for (uint32_t i = 0; i < entry->samples; i++) {
		uint64_t address[STACK_CHAIN_MAX];
		size_t size;

		memcpy(&sample, from, sizeof(sample));
		from += sizeof(sample);
		size = sample.chain.count * sizeof(*address);
		memcpy(address, from, size);
		from += size;
		sample.chain.address = address;
		if (entry->table) {
			uint64_t programs;

			memcpy(&programs, from, sizeof(programs));
			from += sizeof(programs);
			check_links(sink, &placed, programs, &sample, counts->links);
		}
		if (name_marks(sink, &sample) < 0 ||
		    kernel_names_sample(sink->kernels, &sample, sink->series,
					&sink->err) < 0)
			return -1;
		if (series_sample(sink->series, &sample, &sink->err) < 0)
			return -1;
		weight = sample.weight;
	}
	if (sink->meter)
		meter_round(sink->meter, entry->samples, weight, entry->missed);
	return 0;
}

/* Writes a wait, and the names of the addresses in its chain. */
static int write_wait(struct sink *sink, const uint8_t *from)
{
	uint64_t address[CHAIN_MAX];
	struct sample named = {0};
	struct wait wait;

	memcpy(&wait, from, sizeof(wait));
	memcpy(address, from + sizeof(wait), wait.chain.count * sizeof(*address));
	wait.chain.address = address;
	named.domain = wait.domain;
	named.chain = wait.chain;
	if (name_marks(sink, &named) < 0 ||
	    kernel_names_sample(sink->kernels, &named, sink->series, &sink->err) < 0)
		return -1;
	return series_wait(sink->series, &wait, &sink->err);
}

/* Writes the mappings of a process, and frees them. */
static int write_mappings(struct sink *sink, const uint8_t *from)
{
	const struct process_mappings *mappings;
	struct owned_entry entry;
	int status = 0;

	memcpy(&entry, from, sizeof(entry));
	mappings = entry.data;
	for (size_t i = 0; i < mappings->count && status == 0; i++) {
		const struct mapping *mapping = &mappings->list[i];
		const struct recording_mapping written = {
			.domain = entry.domain,
			.pid = mappings->process.pid,
			.space = mappings->process.space,
			.time = mappings->time,
			.start = mapping->start,
			.size = mapping->end - mapping->start,
			.offset = mapping->offset,
			.path = {mapping->path, strlen(mapping->path)},
			.build_id = {(const char *)mapping->build_id,
				     mapping->build_id_size},
		};

		status = series_mapping(sink->series, &written, &sink->err);
	}
	free(entry.data);
	return status;
}

static int write_entry(struct sink *sink, const uint8_t *from)
{
	struct recording_domain domain;
	struct waits_counts counts;
	struct owned_entry kernel;
	struct entry entry;

	memcpy(&entry, from, sizeof(entry));
	from += sizeof(entry);
	if (entry.kind == ENTRY_ROUND)
		return write_round(sink, &entry, from);
	if (entry.kind == ENTRY_KERNEL) {
		memcpy(&kernel, from, sizeof(kernel));
		return kernel_names_add(sink->kernels, kernel.domain, kernel.data,
					sink->series, &sink->err);
	}
	if (entry.kind == ENTRY_MAPPINGS)
		return write_mappings(sink, from);
	if (entry.kind == ENTRY_WAIT)
		return write_wait(sink, from);
	if (entry.kind == ENTRY_WAITS) {
		memcpy(&counts, from, sizeof(counts));
		series_waits(sink->series, &counts);
		return 0;
	}
	memcpy(&domain, from, sizeof(domain));
	return series_domain(sink->series, &domain, &sink->err);
}

/* Writes all entries in the ring. Returns the number of entries, or -1. */
static long drain_ring(struct sink *sink)
{
	const void *entry;
	long entries = 0;
	size_t size;

	while ((entry = ring_peek(sink->ring, &size))) {
		if (write_entry(sink, entry) < 0)
			return -1;
		ring_drop(sink->ring);
		entries++;
	}
	return entries;
}

static struct timespec moment_after(uint64_t time, uint64_t ns)
{
	time += ns;
	return (struct timespec){(time_t)(time / NS_PER_S), (long)(time % NS_PER_S)};
}

/* Waits for LOOK_NS, or until the thread is told to stop; true if it is. */
static bool wait_for_stop(struct sink *sink)
{
	struct timespec until = moment_after(clock_monotonic(), LOOK_NS);

	while (sem_clockwait(&sink->stop, CLOCK_MONOTONIC, &until) < 0)
		if (errno == ETIMEDOUT)
			return false;
	return true;
}

static void show_meter(struct sink *sink, uint64_t now)
{
	struct pauses pauses;

	series_pauses(sink->series, &pauses);
	meter_show(sink->meter, now, &pauses, series_bytes(sink->series));
}

/* Writes entries from the ring until the thread is told to stop, which sets *@is_told: 0,
 * or -1. */
static int write_rounds(struct sink *sink, bool *is_told)
{
	uint64_t oldest = 0; /* when the first sample since the last flush arrived */

	while (!*is_told) {
		uint64_t now;
		long entries;

		*is_told = wait_for_stop(sink);
		entries = drain_ring(sink);
		if (entries < 0)
			return -1;
		now = clock_monotonic();
		if (entries && !oldest)
			oldest = now;
		if (oldest && now - oldest >= FLUSH_NS) {
			oldest = 0;
			link_check_renew(sink->links);
			if (series_flush(sink->series, &sink->err) < 0)
				return -1;
		}
		/* The writer's counts are up to date after a flush. */
		if (sink->meter && !oldest)
			show_meter(sink, now);
	}
	return 0;
}

/* Adds the counts of rounds that the ring had no space for to the last file. */
static void count_spill(const struct sink *sink)
{
	struct sampling_counts *counts = series_counts(sink->series);

	if (!counts)
		return;
	counts->lost += sink->spill.lost;
	counts->missed += sink->spill.missed;
	pauses_merge(&counts->pauses, &sink->spill.pauses);
}

static void *run_writer(void *context)
{
	struct sink *sink = context;
	bool is_told = false;

	priority_set(PRIORITY_WRITER);
	privileges_drop(KEEP_NOTHING);
	sem_post(&sink->ready);
	if (write_rounds(sink, &is_told) < 0) {
		__atomic_store_n(&sink->failed, 1, __ATOMIC_RELEASE);
		while (!is_told)
			is_told = wait_for_stop(sink);
	}
	if (sink->meter)
		meter_stop(sink->meter);
	count_spill(sink);
	/* After a failure, series_end() fails for the reason of the failure, but sets the
	 * totals. */
	if (series_end(sink->series, sink->end, &sink->err) < 0)
		sink->failed = 1;
	return NULL;
}

void sink_free(struct sink *sink)
{
	if (!sink)
		return;
	ring_free(sink->ring);
	link_check_free(sink->links);
	kernel_names_free(sink->kernels);
	free(sink->part);
	free(sink);
}

struct sink *sink_new(struct error *err)
{
	struct sink *sink = calloc(1, sizeof(*sink));

	if (!sink) {
		error_set(err, "out of memory");
		return NULL;
	}
	sink->links = link_check_new();
	sink->kernels = kernel_names_new();
	if (!sink->links || !sink->kernels)
		error_set(err, "out of memory");
	else
		sink->ring = ring_new(RING_SIZE, err);
	if (sink->ring)
		return sink;
	sink_free(sink);
	return NULL;
}

int sink_start(struct sink *sink, struct series *series, struct meter *meter,
	       struct error *err)
{
	int status;

	sink->series = series;
	sink->meter = meter;
	sem_init(&sink->ready, 0, 0);
	sem_init(&sink->stop, 0, 0);
	status = pthread_create(&sink->thread, NULL, run_writer, sink);
	if (status)
		return error_errno(err, status, "can't start a thread");
	while (sem_wait(&sink->ready) < 0)
		;
	return 0;
}

/* Allocates the parts for rounds of @vcpus vCPUs. */
static bool make_parts(struct sink *sink, uint64_t vcpus)
{
	if (vcpus <= sink->vcpus)
		return true;
	if (!array_grow(&sink->part, 3 + 3 * vcpus, sizeof(*sink->part)))
		return false;
	sink->vcpus = vcpus;
	return true;
}

bool sink_domain(struct sink *sink, const struct recording_domain *domain)
{
	const struct entry entry = {.kind = ENTRY_DOMAIN};
	const struct ring_part parts[] = {
		{&entry, sizeof(entry)},
		{domain, sizeof(*domain)},
	};

	return make_parts(sink, domain->vcpus) && ring_put(sink->ring, parts, 2);
}

/* Passes on what the sink owns then; false if there is no space. */
static bool put_owned(struct sink *sink, enum entry_kind kind, uint32_t domain,
		      void *data)
{
	const struct entry entry = {.kind = kind};
	const struct owned_entry owned = {domain, data};
	const struct ring_part parts[] = {
		{&entry, sizeof(entry)},
		{&owned, sizeof(owned)},
	};

	return ring_put(sink->ring, parts, 2);
}

void sink_kernel(struct sink *sink, uint32_t domain, struct kallsyms *kallsyms)
{
	if (kallsyms && !put_owned(sink, ENTRY_KERNEL, domain, kallsyms))
		kallsyms_free(kallsyms);
}

void sink_mappings(struct sink *sink, uint32_t domain, struct process_mappings *mappings)
{
	if (mappings && !put_owned(sink, ENTRY_MAPPINGS, domain, mappings))
		free(mappings);
}

void sink_round(struct sink *sink, const struct round *round, uint64_t missed)
{
	struct entry entry = {.kind = ENTRY_ROUND,
			      .missed = missed,
			      .table = round->table ? round->table->table : NULL,
			      .pauses = round->pauses,
			      .samples = round->samples};
	size_t parts = 0;

	/* There may be no parts for a domain that could not be described. */
	if (round->samples > sink->vcpus || !sink->part)
		goto lost;
	memcpy(entry.pause, round->pause, round->pauses * sizeof(entry.pause[0]));
	sink->part[parts++] = (struct ring_part){&entry, sizeof(entry)};
	if (round->table) {
		const struct placed_table *placed = round->table;
		size_t origins = placed->table->origins;

		sink->part[parts++] = (struct ring_part){
			placed->is_found, origins * sizeof(*placed->is_found)};
		sink->part[parts++] = (struct ring_part){
			placed->shift, origins * sizeof(*placed->shift)};
	}
	for (unsigned int i = 0; i < round->samples; i++) {
		const struct sample *sample = &round->sample[i];

		sink->part[parts++] = (struct ring_part){sample, sizeof(*sample)};
		sink->part[parts++] = (struct ring_part){
			sample->chain.address,
			sample->chain.count * sizeof(*sample->chain.address)};
		if (round->table)
			sink->part[parts++] = (struct ring_part){
				&round->programs[i], sizeof(round->programs[i])};
	}
	if (ring_put(sink->ring, sink->part, parts))
		return;
lost:
	sink->spill.lost += round->samples;
	sink->spill.missed += missed;
	for (unsigned int i = 0; i < round->pauses; i++)
		pauses_add(&sink->spill.pauses, round->pause[i]);
}

void sink_wait(struct sink *sink, const struct wait *wait)
{
	const struct entry entry = {.kind = ENTRY_WAIT};
	const struct ring_part parts[] = {
		{&entry, sizeof(entry)},
		{wait, sizeof(*wait)},
		{wait->chain.address, wait->chain.count * sizeof(*wait->chain.address)},
	};

	ring_put(sink->ring, parts, 3);
}

void sink_waits(struct sink *sink, const struct waits_counts *counts)
{
	const struct entry entry = {.kind = ENTRY_WAITS};
	const struct ring_part parts[] = {
		{&entry, sizeof(entry)},
		{counts, sizeof(*counts)},
	};

	ring_put(sink->ring, parts, 2);
}

unsigned int sink_files(const struct sink *sink)
{
	return 1 + __atomic_load_n(&sink->files, __ATOMIC_ACQUIRE);
}

uint64_t sink_next_file(const struct sink *sink, uint64_t time)
{
	return series_next_start(sink->series, time);
}

bool sink_failed(const struct sink *sink)
{
	return __atomic_load_n(&sink->failed, __ATOMIC_ACQUIRE);
}

int sink_end(struct sink *sink, struct recording_end *end, const sigset_t *signals,
	     struct error *err)
{
	struct timespec patience = moment_after(clock_monotonic(), PATIENCE_NS);
	int status = 0;

	sink->end = end;
	sem_post(&sink->stop);
	if (pthread_clockjoin_np(sink->thread, NULL, CLOCK_MONOTONIC, &patience)) {
		sigprocmask(SIG_UNBLOCK, signals, NULL);
		pthread_join(sink->thread, NULL);
	}
	if (sink->failed) {
		*err = sink->err;
		status = -1;
	}
	sem_destroy(&sink->ready);
	sem_destroy(&sink->stop);
	sink_free(sink);
	return status;
}

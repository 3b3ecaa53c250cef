/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load/ahead.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "format/mapping_list.h"
#include "format/name_list.h"

/* Only one thread at a time reads and decompresses, which is more than a third of the
 * work: additional threads would only wait for their turn. */
#define MAX_THREADS 3

/* Size of a recording, in bytes, up to which threads cost more time than they save */
#define SMALL (64u << 10)

/* Chunks that wait for ahead_next(), besides one that each thread works on. Each takes
 * memory. */
#define SPARE 2

/* Bytes of payload memory that a slot keeps for the next chunk */
#define KEEP_BYTES (1u << 20)

struct slot {
	struct ahead_chunk chunk;
	size_t domains; /* number of chunks up to the last domain before this chunk */
	sem_t ready;
};

struct ahead {
	struct reader *reader;
	struct ahead_stacks stacks;
	struct slot *slots; /* a ring */
	size_t slot_count;
	sem_t turn;	/* held to read, and to change the next three members */
	size_t read;	/* chunks read so far */
	size_t domains; /* number of chunks up to the last domain read */
	bool is_read;	/* the end was reached */
	size_t given;	/* chunks that ahead_next() returned so far */
	pthread_mutex_t lock;
	pthread_cond_t change; /* signals changes of the next two members */
	size_t taken;	       /* chunks that ahead_next()'s caller is done with */
	bool is_stopped;       /* threads must end */
	int stop; /* an eventfd that becomes readable when threads must end; -1: none */
	pthread_t thread[MAX_THREADS];
	unsigned int threads; /* number of running threads; 0: ahead_next() reads */
};

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) < 0)
		;
}

/* Waits until the caller is done with the first @count chunks. False if stopped. */
static bool wait_until_taken(struct ahead *ahead, size_t count)
{
	bool is_stopped;

	pthread_mutex_lock(&ahead->lock);
	while (ahead->taken < count && !ahead->is_stopped)
		pthread_cond_wait(&ahead->change, &ahead->lock);
	is_stopped = ahead->is_stopped;
	pthread_mutex_unlock(&ahead->lock);
	return !is_stopped;
}

static void set_taken(struct ahead *ahead, size_t count, bool is_stopped)
{
	pthread_mutex_lock(&ahead->lock);
	ahead->taken = count;
	ahead->is_stopped = is_stopped;
	pthread_cond_broadcast(&ahead->change);
	pthread_mutex_unlock(&ahead->lock);
}

/* Reads the next chunk, and keeps its payload. */
static void read_chunk(struct reader *reader, struct ahead_chunk *chunk)
{
	uint64_t passed = reader_damage(reader)->bytes;
	struct cursor payload;

	chunk->start = reader_offset(reader);
	chunk->status = reader_next(reader, &chunk->type, &payload, &chunk->why);
	chunk->damage = *reader_damage(reader);
	chunk->start += chunk->damage.bytes - passed;
	chunk->end = reader_offset(reader);
	if (chunk->status <= 0)
		return;
	chunk->place = place_of(payload);
	chunk->payload_size = (size_t)(payload.end - payload.at);
	buffer_reset(&chunk->payload);
	buffer_put(&chunk->payload, payload.at, (size_t)(payload.end - payload.at));
	if (!chunk->payload.failed)
		return;
	error_set(&chunk->why, "out of memory reading the recording");
	chunk->status = -1;
}

static bool is_samples(const struct ahead_chunk *chunk)
{
	return chunk->status > 0 && chunk->type == CHUNK_SAMPLES;
}

/* Decodes a chunk of samples. True if it has captured stacks, which must be unwound by
 * the domains of earlier chunks before the samples are summed up. */
static bool decode_chunk(struct ahead_chunk *chunk)
{
	chunk->is_decoded = samples_decode(cursor_of(&chunk->payload), &chunk->batch) ==
			    0;
	chunk->nodes = chunk->batch.nodes;
	summary_free(&chunk->summary);
	chunk->is_summed_up = false;
	return chunk->is_decoded && chunk->batch.has_stacks;
}

/* Decodes a chunk of waits, and keeps the payload, which programs that copy chunks need.
 */
static void decode_waits(struct ahead_chunk *chunk)
{
	if (chunk->status <= 0 || chunk->type != CHUNK_WAITS)
		return;
	chunk->is_decoded = waits_decode(cursor_of(&chunk->payload), &chunk->waits) == 0;
	chunk->nodes = chunk->waits.samples.nodes;
}

static void sum_up(struct ahead_chunk *chunk)
{
	chunk->is_summed_up = chunk->is_decoded &&
			      summary_add_samples(&chunk->summary, &chunk->batch) == 0;
}

/* Unwinds the chunk's captured stacks; the domains of all earlier chunks must be known.
 */
static void unwind_chunk(struct ahead_chunk *chunk, const struct ahead_stacks *stacks)
{
	if (replay_batch(stacks->replay, stacks->summary, &chunk->batch) == 0)
		sum_up(chunk);
}

void ahead_chunk_read(struct ahead_chunk *chunk, struct reader *reader,
		      const struct ahead_stacks *stacks)
{
	read_chunk(reader, chunk);
	decode_waits(chunk);
	if (!is_samples(chunk))
		return;
	if (!decode_chunk(chunk) && stacks)
		sum_up(chunk);
	else if (stacks)
		unwind_chunk(chunk, stacks);
}

struct recording_sums ahead_chunk_sums(const struct ahead_chunk *chunk)
{
	struct recording_sums sums = {.payload = chunk->payload_size};

	bool is_waits = chunk->type == CHUNK_WAITS;

	if ((chunk->type == CHUNK_SAMPLES || is_waits) && chunk->is_decoded) {
		sums.samples = is_waits ? chunk->waits.samples.count : chunk->batch.count;
		sums.nodes = chunk->nodes - SAMPLES_ROOTS;
	} else if (chunk->type == CHUNK_SAMPLES || is_waits) {
		sums.nodes = sums.payload;
	} else if (chunk->type == CHUNK_NAMES) {
		sums.names = name_list_count(cursor_of(&chunk->payload));
		sums.names_payload = sums.payload;
	} else if (chunk->type == CHUNK_MAPPINGS) {
		sums.names = mapping_list_count(cursor_of(&chunk->payload));
		sums.names_payload = sums.payload;
	}
	return sums;
}

void ahead_chunk_free(struct ahead_chunk *chunk)
{
	buffer_free(&chunk->payload);
	samples_batch_free(&chunk->batch);
	waits_batch_free(&chunk->waits);
	summary_free(&chunk->summary);
}

/* Reads the next chunk into the next slot; NULL if there was none. */
static struct slot *read_slot(struct ahead *ahead)
{
	struct slot *slot = NULL;
	size_t used;

	wait_for(&ahead->turn);
	/* The chunk that the slot had before must have been taken. */
	used = ahead->read < ahead->slot_count ? 0 : ahead->read + 1 - ahead->slot_count;
	ahead->is_read = ahead->is_read || !wait_until_taken(ahead, used);
	if (!ahead->is_read) {
		slot = &ahead->slots[ahead->read++ % ahead->slot_count];
		slot->domains = ahead->domains;
		read_chunk(ahead->reader, &slot->chunk);
		ahead->is_read = slot->chunk.status <= 0;
		if (slot->chunk.type == CHUNK_DOMAIN)
			ahead->domains = ahead->read;
	}
	sem_post(&ahead->turn);
	return slot;
}

/* Reads and decodes the next chunk; false if there was none. */
static bool fill_slot(struct ahead *ahead)
{
	struct slot *slot = read_slot(ahead);

	if (!slot)
		return false;
	decode_waits(&slot->chunk);
	if (is_samples(&slot->chunk)) {
		if (!decode_chunk(&slot->chunk))
			sum_up(&slot->chunk);
		/* Only domains in earlier chunks count, and these are taken first. */
		else if (wait_until_taken(ahead, slot->domains))
			unwind_chunk(&slot->chunk, &ahead->stacks);
		if (slot->chunk.payload.capacity > KEEP_BYTES)
			buffer_free(&slot->chunk.payload);
	}
	sem_post(&slot->ready);
	return true;
}

/* Runs in a thread, up to the end of the recording or until stopped. */
static void *read_ahead(void *ahead)
{
	while (fill_slot(ahead))
		;
	return NULL;
}

static unsigned int useful_threads(uint64_t size)
{
	cpu_set_t cpus;
	int count;

	if (size && size <= SMALL)
		return 0;
	/* Fails if there are more CPUs than fit in the set. */
	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		return MAX_THREADS;
	count = CPU_COUNT(&cpus);
	/* Threads that take turns on one CPU would only cost more. */
	if (count == 1)
		return 0;
	return count < MAX_THREADS ? (unsigned int)count : MAX_THREADS;
}

struct ahead *ahead_start(int fd, uint64_t size, unsigned int threads,
			  const struct ahead_stacks *stacks, struct error *err)
{
	struct ahead *ahead = calloc(1, sizeof(*ahead));
	unsigned int slots;
	int status = 0;

	if (!ahead)
		goto out_of_memory;
	if (!threads)
		threads = useful_threads(size);
	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	sem_init(&ahead->turn, 0, 1);
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->change, NULL);
	slots = threads ? threads + SPARE : 1;
	ahead->stacks = *stacks;
	ahead->stop = eventfd(0, EFD_CLOEXEC);
	ahead->reader = reader_new(fd);
	ahead->slots = calloc(slots, sizeof(*ahead->slots));
	if (!ahead->reader || !ahead->slots)
		goto out_of_memory;
	if (ahead->stop < 0) {
		status = errno;
		ahead_stop(ahead);
		error_errno(err, status, "can't read the recording");
		return NULL;
	}
	reader_stop_at(ahead->reader, ahead->stop);
	for (; ahead->slot_count < slots; ahead->slot_count++)
		sem_init(&ahead->slots[ahead->slot_count].ready, 0, 0);
	while (ahead->threads < threads && !status) {
		status = pthread_create(&ahead->thread[ahead->threads], NULL, read_ahead,
					ahead);
		ahead->threads += !status;
	}
	/* If no thread can be started, reading just takes longer. */
	return ahead;
out_of_memory:
	ahead_stop(ahead);
	error_set(err, "out of memory reading the recording");
	return NULL;
}

void ahead_stop(struct ahead *ahead)
{
	if (!ahead)
		return;
	set_taken(ahead, ahead->given, true);
	if (ahead->stop >= 0)
		eventfd_write(ahead->stop, 1);
	for (unsigned int i = 0; i < ahead->threads; i++)
		pthread_join(ahead->thread[i], NULL);
	for (size_t i = 0; i < ahead->slot_count; i++) {
		struct slot *slot = &ahead->slots[i];

		ahead_chunk_free(&slot->chunk);
		sem_destroy(&slot->ready);
	}
	free(ahead->slots);
	reader_free(ahead->reader);
	if (ahead->stop >= 0)
		close(ahead->stop);
	pthread_cond_destroy(&ahead->change);
	pthread_mutex_destroy(&ahead->lock);
	sem_destroy(&ahead->turn);
	free(ahead);
}

struct ahead_chunk *ahead_next(struct ahead *ahead)
{
	struct slot *slot = &ahead->slots[ahead->given % ahead->slot_count];

	set_taken(ahead, ahead->given++, false);
	if (!ahead->threads)
		fill_slot(ahead);
	wait_for(&slot->ready);
	return &slot->chunk;
}

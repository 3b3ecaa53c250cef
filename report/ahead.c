/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/ahead.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>

/* Reading and decompressing, which one thread does at a time, is more than a third of
 * what they do: more threads than these would only wait for their turn. */
#define MAX_THREADS 3

/* So many chunks are read ahead besides those that the threads work on. Each takes
 * memory. */
#define SPARE 2

struct slot {
	struct ahead_chunk chunk;
	sem_t ready;
};

struct ahead {
	struct reader *reader;
	struct slot *slots; /* used in turn */
	size_t slot_count;
	sem_t turn;   /* to read, and to change these: */
	size_t read;  /* chunks so far */
	bool is_read; /* to the end */
	sem_t room;   /* so many slots are free */
	size_t used;  /* chunks so far, */
	bool is_used; /* to the end */
	pthread_t thread[MAX_THREADS];
	unsigned int threads; /* that run */
};

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) < 0)
		;
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
	buffer_reset(&chunk->payload);
	buffer_put(&chunk->payload, payload.at, (size_t)(payload.end - payload.at));
	if (!chunk->payload.failed)
		return;
	error_set(&chunk->why, "not enough memory to read the recording");
	chunk->status = -1;
}

/* What can be done with a chunk of samples without knowing those before it. */
static void decode_chunk(struct ahead_chunk *chunk)
{
	const struct cursor payload = {
		.at = chunk->payload.data,
		.end = chunk->payload.data + chunk->payload.size,
	};

	chunk->is_decoded = samples_decode(payload, &chunk->batch) == 0;
	summary_free(&chunk->summary);
	chunk->is_summed_up = chunk->is_decoded &&
			      summary_add_samples(&chunk->summary, &chunk->batch) == 0;
}

/* Reads the next chunk into the next slot; NULL when there was none. */
static struct slot *read_slot(struct ahead *ahead)
{
	struct slot *slot = NULL;

	wait_for(&ahead->turn);
	if (!ahead->is_read) {
		wait_for(&ahead->room);
		slot = &ahead->slots[ahead->read++ % ahead->slot_count];
		read_chunk(ahead->reader, &slot->chunk);
		ahead->is_read = slot->chunk.status <= 0;
	}
	sem_post(&ahead->turn);
	return slot;
}

/* A thread; it ends with the recording, or when it is cancelled, which it can be where
 * it waits or reads. */
static void *read_ahead(void *context)
{
	struct ahead *ahead = context;
	struct slot *slot;

	while ((slot = read_slot(ahead))) {
		if (slot->chunk.status > 0 && slot->chunk.type == CHUNK_SAMPLES)
			decode_chunk(&slot->chunk);
		sem_post(&slot->ready);
	}
	return NULL;
}

static unsigned int useful_threads(void)
{
	cpu_set_t cpus;
	int count;

	/* It fails where there are more CPUs than the set has room for. */
	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		return MAX_THREADS;
	count = CPU_COUNT(&cpus);
	return count < MAX_THREADS ? (unsigned int)count : MAX_THREADS;
}

struct ahead *ahead_start(int fd, unsigned int threads, struct error *err)
{
	struct ahead *ahead = calloc(1, sizeof(*ahead));
	int status = 0;

	if (!ahead)
		goto out_of_memory;
	if (!threads)
		threads = useful_threads();
	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	sem_init(&ahead->turn, 0, 1);
	sem_init(&ahead->room, 0, threads + SPARE);
	ahead->reader = reader_new(fd);
	ahead->slots = calloc(threads + SPARE, sizeof(*ahead->slots));
	if (!ahead->reader || !ahead->slots)
		goto out_of_memory;
	for (; ahead->slot_count < threads + SPARE; ahead->slot_count++)
		sem_init(&ahead->slots[ahead->slot_count].ready, 0, 0);
	while (ahead->threads < threads && !status) {
		status = pthread_create(&ahead->thread[ahead->threads], NULL, read_ahead,
					ahead);
		ahead->threads += !status;
	}
	if (ahead->threads)
		return ahead;
	ahead_stop(ahead);
	error_errno(err, status, "can't start a thread");
	return NULL;
out_of_memory:
	ahead_stop(ahead);
	error_set(err, "not enough memory to read the recording");
	return NULL;
}

void ahead_stop(struct ahead *ahead)
{
	if (!ahead)
		return;
	for (unsigned int i = 0; i < ahead->threads && !ahead->is_used; i++)
		pthread_cancel(ahead->thread[i]);
	for (unsigned int i = 0; i < ahead->threads; i++)
		pthread_join(ahead->thread[i], NULL);
	for (size_t i = 0; i < ahead->slot_count; i++) {
		struct slot *slot = &ahead->slots[i];

		buffer_free(&slot->chunk.payload);
		samples_batch_free(&slot->chunk.batch);
		summary_free(&slot->chunk.summary);
		sem_destroy(&slot->ready);
	}
	free(ahead->slots);
	reader_free(ahead->reader);
	sem_destroy(&ahead->room);
	sem_destroy(&ahead->turn);
	free(ahead);
}

struct ahead_chunk *ahead_next(struct ahead *ahead)
{
	struct slot *slot = &ahead->slots[ahead->used % ahead->slot_count];

	if (ahead->used++)
		sem_post(&ahead->room);
	wait_for(&slot->ready);
	ahead->is_used = slot->chunk.status <= 0;
	return &slot->chunk;
}

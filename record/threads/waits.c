/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/threads/waits.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "record/threads/part.h"

/* Size of the hash table, which is at most half full */
#define SLOTS (2 * THREADS_MAX)

/* How often a chain that is cut is read again: what leads on may be learned meanwhile. */
#define TRIES 4

/* Time from one chunk of waits to the next at first, ns; it doubles. */
#define CHUNK_FIRST NS_PER_S

/* A thread that waits. */
struct tracked {
	uint64_t task;
	struct thread_moment moment;
	uint64_t seen;	   /* the last round that saw it, ns */
	bool is_written;   /* as a wait that goes on */
	uint8_t tries;	   /* times that its chain was cut, and read again */
	uint32_t renewals; /* of the tables, when its chain was last read */
	struct wait wait;
};

struct waits {
	uint64_t period; /* ns */
	struct learning *learning;
	uint32_t index;
	struct part *part;
	struct tracked *list;
	unsigned int count, capacity;
	uint16_t *slot; /* a hash table by task: index in the list + 1; 0: free */
	uint64_t key;	/* of the hash, so that no guest can predict it */
	uint64_t start, due;
	uint64_t planned; /* number of the period that the next round, or this one, is for
			   */
	uint64_t random;  /* state of random_next() */
	struct thread_walk walk; /* of the round */
	bool in_round;
	bool is_ended;
	uint64_t broken; /* rounds that did not see all threads */
	uint64_t round;	 /* time of the round, or of the last one, ns */
	uint64_t chunk;	 /* time of the next chunk, ns */
	uint64_t chunk_wait, chunk_most;
	unsigned int files;	    /* of the sink, when the last chunk was passed on */
	struct waits_counts counts; /* since the last chunk */
	struct waits_totals totals;
};

struct waits *waits_new(uint64_t period, uint64_t most, struct learning *learning,
			uint32_t index)
{
	struct waits *waits = calloc(1, sizeof(*waits));

	if (!waits)
		return NULL;
	waits->slot = calloc(SLOTS, sizeof(*waits->slot));
	waits->part = calloc(1, sizeof(*waits->part));
	if (!waits->slot || !waits->part) {
		waits_free(waits);
		return NULL;
	}
	waits->period = period;
	waits->chunk_most = most;
	waits->learning = learning;
	waits->index = index;
	waits->key = clock_monotonic();
	waits->totals.is_unknown = true;
	return waits;
}

void waits_free(struct waits *waits)
{
	if (!waits)
		return;
	for (unsigned int i = 0; i < waits->count; i++)
		free(waits->list[i].wait.chain.address);
	free(waits->list);
	free(waits->slot);
	free(waits->part);
	free(waits);
}

/* Returns the number of the period that the time is in. */
static uint64_t period_at(const struct waits *waits, uint64_t time)
{
	return (time - waits->start) / waits->period;
}

/*
 * Plans the next round, at a random time of its period. If the time from one round to the
 * next were always one period, shares of time would be wrong of threads that do the same
 * things again and again in about a multiple of the period.
 */
static void plan_round(struct waits *waits, uint64_t now)
{
	waits->planned++;
	if (waits->planned < period_at(waits, now))
		waits->planned = period_at(waits, now);
	waits->due = waits->start + waits->planned * waits->period +
		     random_next(&waits->random) % waits->period;
}

void waits_begin(struct waits *waits, uint64_t start)
{
	waits->start = start;
	waits->random = start;
	plan_round(waits, start);
	waits->chunk_wait = CHUNK_FIRST;
	waits->chunk = start + waits->chunk_wait;
}

uint64_t waits_due(const struct waits *waits)
{
	return waits->is_ended ? UINT64_MAX : waits->due;
}

static uint64_t thread_cpu_time(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Returns the slot of the task, or a free one for it. */
static uint16_t *slot_of(const struct waits *waits, uint64_t task)
{
	/* Multiplicative hashing with the golden ratio (Knuth, TAOCP 3, 6.4), twice, as
	 * in xen/pages.c. */
	uint64_t hash = (task ^ waits->key) * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)((hash ^ hash >> 32) * 0x9e3779b97f4a7c15u >> 32) % SLOTS;

	while (waits->slot[i] && waits->list[waits->slot[i] - 1].task != task)
		i = (i + 1) % SLOTS;
	return &waits->slot[i];
}

/* Returns the wait of the task; NULL if it has none. Valid until one is added or dropped.
 */
static struct tracked *find_tracked(const struct waits *waits, uint64_t task)
{
	uint16_t slot = *slot_of(waits, task);

	return slot ? &waits->list[slot - 1] : NULL;
}

/* Adds a wait of a task that has none. False if there is no room. */
static bool add_tracked(struct waits *waits, const struct tracked *tracked)
{
	if (waits->count == waits->capacity) {
		unsigned int capacity = waits->capacity ? waits->capacity * 2 : 64;

		if (capacity > THREADS_MAX ||
		    !array_grow(&waits->list, capacity, sizeof(*waits->list)))
			return false;
		waits->capacity = capacity;
	}
	*slot_of(waits, tracked->task) = (uint16_t)(waits->count + 1);
	waits->list[waits->count++] = *tracked;
	return true;
}

/* Drops a wait; the last one gets its place in the list. */
static void drop_tracked(struct waits *waits, struct tracked *tracked)
{
	const struct tracked *last = &waits->list[waits->count - 1];
	uint16_t *hole = slot_of(waits, tracked->task);
	size_t i = (size_t)(hole - waits->slot);

	*hole = 0;
	/* Slots after the hole may have been meant for it. */
	for (i = (i + 1) % SLOTS; waits->slot[i]; i = (i + 1) % SLOTS) {
		uint16_t number = waits->slot[i];

		waits->slot[i] = 0;
		*slot_of(waits, waits->list[number - 1].task) = number;
	}
	free(tracked->wait.chain.address);
	if (tracked != last) {
		*slot_of(waits, last->task) = (uint16_t)(tracked - waits->list + 1);
		*tracked = *last;
	}
	waits->count--;
}

/* Passes on a wait that is over now, in the round at @time, and forgets it. */
static void end_wait(struct waits *waits, struct tracked *tracked, uint64_t time,
		     struct sink *sink)
{
	tracked->wait.to = time;
	tracked->wait.is_over = true;
	sink_wait(sink, &tracked->wait);
	drop_tracked(waits, tracked);
}

/* Whether the chain of a wait that goes on is to be read again: if it is cut, or if new
 * tables may lead further. */
static bool reads_again(const struct waits *waits, struct tracked *tracked)
{
	enum chain_end end = tracked->wait.chain.end;

	if (end != CHAIN_WHOLE && tracked->renewals != waits->learning->renewals) {
		tracked->renewals = waits->learning->renewals;
		tracked->tries = 0;
		return true;
	}
	if (!chain_end_is_cut(end) || tracked->tries == TRIES)
		return false;
	tracked->tries++;
	return true;
}

/* Looks at one thread: ends its wait if it is over, and notes the thread if it waits for
 * something new. */
static void look_at(struct waits *waits, const struct thread *thread, struct sink *sink)
{
	struct tracked *tracked = find_tracked(waits, thread->task);
	bool waits_now = thread_waits(&thread->moment);
	struct part *part = waits->part;

	if (tracked && tracked->wait.process.tid == thread->tid && waits_now &&
	    thread_is_same(&tracked->moment, &thread->moment)) {
		tracked->seen = waits->round;
		if (!reads_again(waits, tracked))
			return;
	} else if (tracked) {
		end_wait(waits, tracked, waits->round, sink);
	}
	if (waits_now)
		part->candidate[part->candidates++] = (struct candidate){
			.thread = *thread};
}

/* Moves on in the round until there is enough to do. */
static enum walk_step look_around(struct waits *waits, struct sink *sink)
{
	const struct part *part = waits->part;
	enum walk_step step = WALK_THREAD;

	thread_begin_pages(waits->learning, WALK_PART * THREAD_PAGES);
	if (!thread_walk_holds(&waits->walk, &part->view))
		return WALK_BROKEN;
	for (unsigned int i = 0; i < WALK_PART && part->candidates < PART_CHAINS; i++) {
		struct thread thread;

		step = thread_walk_step(&waits->walk, &part->view, &thread);
		if (step != WALK_THREAD)
			break;
		look_at(waits, &thread, sink);
	}
	return step;
}

/* Whether a chain of a wait that goes on is worse than the one that it had, or equal. */
static bool is_no_better(const struct chain *chain, const struct chain *old)
{
	if (chain->end == old->end && chain->count == old->count)
		return chain_is_equal(chain, old);
	return chain_end_is_cut(chain->end) &&
	       (!chain_end_is_cut(old->end) || chain->count <= old->count);
}

/* Replaces the chain of a wait that goes on, if it was cut or other tables led to it, by
 * one that is not cut or is longer. */
static void improve_wait(struct tracked *tracked, const struct chain *chain,
			 uint64_t *address)
{
	struct chain *old = &tracked->wait.chain;

	if (is_no_better(chain, old)) {
		free(address);
		return;
	}
	free(old->address);
	*old = *chain;
	old->address = address;
	tracked->is_written = false;
}

/* Starts to follow the wait of a candidate, whose chain was read in one piece. */
static void begin_wait(struct waits *waits, const struct candidate *candidate)
{
	struct tracked *old = find_tracked(waits, candidate->thread.task);
	size_t size = candidate->chain.count * sizeof(*candidate->chain.address);
	uint64_t *address = malloc(size);
	struct tracked tracked = {.task = candidate->thread.task,
				  .moment = candidate->thread.moment,
				  .seen = waits->round,
				  .renewals = waits->learning->renewals,
				  .wait = {
					  .from = waits->round,
					  .domain = waits->index,
					  .state = candidate->wait.state,
					  .process = candidate->wait.process,
					  .chain = candidate->chain,
				  }};

	if (!address)
		return;
	memcpy(address, candidate->chain.address, size);
	tracked.wait.chain.address = address;
	if (old)
		improve_wait(old, &candidate->chain, address);
	else if (!add_tracked(waits, &tracked))
		free(address);
}

static void begin_waits(struct waits *waits)
{
	for (unsigned int i = 0; i < waits->part->candidates; i++) {
		const struct candidate *candidate = &waits->part->candidate[i];

		if (!candidate->is_read) {
			waits->counts.unread++;
			continue;
		}
		waits->counts.read++;
		begin_wait(waits, candidate);
		learning_study_wait(waits->learning, &candidate->wait.cpu,
				    &candidate->chain, waits->round);
	}
}

/* Passes on the waits that go on, have done so for a while, and are not in the file. */
static void pass_open(struct waits *waits, uint64_t age, struct sink *sink)
{
	for (unsigned int i = 0; i < waits->count; i++) {
		struct tracked *tracked = &waits->list[i];

		if (tracked->is_written || waits->round - tracked->wait.from < age)
			continue;
		sink_wait(sink, &tracked->wait);
		tracked->is_written = true;
	}
}

static void pass_chunk(struct waits *waits, uint64_t age, struct sink *sink)
{
	struct waits_counts *counts = &waits->counts;
	struct waits_totals *totals = &waits->totals;

	pass_open(waits, age, sink);
	counts->until = waits->round;
	counts->period = waits->period;
	sink_waits(sink, counts);
	totals->rounds += counts->rounds;
	totals->skipped += counts->skipped;
	totals->read += counts->read;
	totals->torn += counts->torn;
	totals->unread += counts->unread;
	totals->cpu_time += counts->cpu_time;
	*counts = (struct waits_counts){.threads = counts->threads};
}

/* Returns whether a file has begun since the last call, which needs all waits that go on.
 */
static bool begin_file(struct waits *waits, const struct sink *sink)
{
	unsigned int before = waits->files;

	waits->files = sink_files(sink);
	if (!before || waits->files == before)
		return false;
	for (unsigned int i = 0; i < waits->count; i++)
		waits->list[i].is_written = false;
	return true;
}

/* Passes on a chunk if it is due, or if a file ends before the next round, or has begun.
 */
static void pass_chunks(struct waits *waits, struct sink *sink)
{
	uint64_t since = waits->round - waits->start;
	/* The age from which waits that go on are written; less at the start. */
	uint64_t old = waits->chunk_most / 3, age = since / 2 < old ? since / 2 : old;

	/* The next round may come after the end of a file that ends in its period. */
	if (sink_next_file(sink, waits->round) - waits->round <= 2 * waits->period)
		pass_chunk(waits, 0, sink);
	if (begin_file(waits, sink))
		waits->chunk = waits->round;
	if (waits->round < waits->chunk)
		return;
	pass_chunk(waits, age, sink);
	waits->chunk_wait *= 2;
	if (waits->chunk_wait > waits->chunk_most)
		waits->chunk_wait = waits->chunk_most;
	waits->chunk = waits->round + waits->chunk_wait;
}

/* Ends the waits of threads that are gone. */
static void end_unseen(struct waits *waits, struct sink *sink)
{
	for (unsigned int i = waits->count; i-- > 0;)
		if (waits->list[i].seen != waits->round)
			end_wait(waits, &waits->list[i], waits->round, sink);
}

/* Begins the planned round, or a later one if it is late by more than a period. Its time
 * is the start of its period. */
static void begin_round(struct waits *waits, uint64_t now)
{
	uint64_t time;

	if (waits->planned + 1 < period_at(waits, now))
		waits->planned = period_at(waits, now);
	time = waits->start + waits->planned * waits->period;
	if (waits->round && time > waits->round + waits->period)
		waits->counts.skipped += (time - waits->round) / waits->period - 1;
	waits->round = time;
	waits->walk = (struct thread_walk){0};
	waits->in_round = true;
}

static void end_round(struct waits *waits, bool is_full, struct sink *sink)
{
	waits->in_round = false;
	waits->counts.rounds++;
	if (is_full) {
		end_unseen(waits, sink);
		waits->counts.threads = waits->walk.threads;
		if (waits->walk.threads > waits->totals.threads)
			waits->totals.threads = waits->walk.threads;
	} else {
		waits->broken++;
		waits->totals.is_broken |= waits->walk.threads >= THREADS_MAX;
	}
	pass_chunks(waits, sink);
}

/* Takes a part of the round. Returns whether the round is done, or can't go on. */
static bool take_part(struct waits *waits, struct sink *sink)
{
	enum walk_step step;

	waits->part->candidates = 0;
	if (!thread_view_open(&waits->part->view, waits->learning)) {
		if (waits->in_round)
			end_round(waits, false, sink);
		return true;
	}
	waits->totals.is_unknown = false;
	if (!waits->in_round)
		begin_round(waits, clock_monotonic());
	step = look_around(waits, sink);
	if (waits->part->candidates) {
		waits->counts.torn += part_read(waits->part, waits->learning);
		begin_waits(waits);
	}
	if (step == WALK_THREAD)
		return false;
	end_round(waits, step == WALK_DONE, sink);
	return true;
}

uint64_t waits_take(struct waits *waits, struct sink *sink)
{
	uint64_t before = thread_cpu_time(), used;
	bool is_done = take_part(waits, sink);

	waits->due = clock_monotonic();
	if (is_done)
		plan_round(waits, waits->due);
	used = thread_cpu_time() - before;
	waits->counts.cpu_time += used;
	return used;
}

void waits_end(struct waits *waits, struct sink *sink, bool is_over)
{
	if (waits->is_ended || !waits->round)
		return;
	waits->is_ended = true;
	while (is_over && waits->count)
		end_wait(waits, &waits->list[waits->count - 1], waits->round, sink);
	begin_file(waits, sink);
	pass_chunk(waits, 0, sink);
	waits->totals.time += waits->round - waits->start;
}

void waits_add(const struct waits *waits, struct waits_totals *totals)
{
	const struct waits_totals *more = &waits->totals;
	const struct waits_counts *last = &waits->counts;

	totals->rounds += more->rounds + last->rounds;
	totals->skipped += more->skipped + last->skipped;
	totals->read += more->read + last->read;
	totals->torn += more->torn + last->torn;
	totals->unread += more->unread + last->unread;
	totals->threads += more->threads;
	totals->cpu_time += more->cpu_time + last->cpu_time;
	totals->time += more->time;
	totals->is_broken |= more->is_broken ||
			     waits->broken > (more->rounds + last->rounds) / 2;
	totals->is_unknown |= more->is_unknown;
}

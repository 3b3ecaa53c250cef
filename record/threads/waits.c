/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/threads/waits.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "record/threads/linux.h"
#include "unwind/unwind.h"

/* Threads in a part of a round, and chains that are read at most in it */
#define PART_THREADS 32
#define PART_CHAINS  8

/* Limit of map calls for the chains of a part */
#define CHAIN_MAPS (PART_CHAINS * 48)

/* Size of the hash table, which is at most half full */
#define SLOTS (2 * THREADS_MAX)

/* How often a chain that is cut is read again: what leads on may be learned meanwhile. */
#define TRIES 4

/* Time from one chunk of waits to the next, ns: at first and at most; it doubles. */
#define CHUNK_FIRST NS_PER_S
#define CHUNK_MOST  (15 * NS_PER_S)

/* Age from which waits that go on are written, ns, or less at the start */
#define OLD_NS (5 * NS_PER_S)

/* A thread that waits. */
struct tracked {
	uint64_t task; /* 0: the slot is free */
	struct thread_moment moment;
	uint64_t seen;	 /* the last round that saw it, ns */
	bool is_written; /* as a wait that goes on */
	uint8_t tries;	 /* times that its chain was cut, and read again */
	struct wait wait;
};

struct waits {
	struct waits_pace pace;
	struct learning *learning;
	uint32_t index;
	struct tracked *slot;
	unsigned int used;
	uint64_t key; /* of the hash, so that no guest can predict it */
	uint64_t start, due;
	struct thread_walk walk; /* of the round */
	bool in_round;
	bool is_ended;
	uint64_t round;	    /* time of the round, or of the last one, ns */
	uint64_t last_full; /* time of the last round that saw all threads, ns */
	uint64_t chunk;	    /* time of the next chunk, ns */
	uint64_t chunk_wait;
	unsigned int files;	    /* of the sink, when the last chunk was passed on */
	struct waits_counts counts; /* since the last chunk */
	struct waits_totals totals;
};

struct waits *waits_new(const struct waits_pace *pace, struct learning *learning,
			uint32_t index)
{
	struct waits *waits = calloc(1, sizeof(*waits));

	if (!waits)
		return NULL;
	waits->slot = calloc(SLOTS, sizeof(*waits->slot));
	if (!waits->slot) {
		free(waits);
		return NULL;
	}
	waits->pace = *pace;
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
	for (size_t i = 0; i < SLOTS; i++)
		free(waits->slot[i].wait.chain.address);
	free(waits->slot);
	free(waits);
}

void waits_begin(struct waits *waits, uint64_t start)
{
	waits->start = start;
	waits->due = start + waits->pace.period;
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
static struct tracked *slot_of(const struct waits *waits, uint64_t task)
{
	/* Multiplicative hashing with the golden ratio (Knuth, TAOCP 3, 6.4), twice, as
	 * in xen/pages.c. */
	uint64_t hash = (task ^ waits->key) * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)((hash ^ hash >> 32) * 0x9e3779b97f4a7c15u >> 32) % SLOTS;

	while (waits->slot[i].task && waits->slot[i].task != task)
		i = (i + 1) % SLOTS;
	return &waits->slot[i];
}

static void free_slot(struct waits *waits, struct tracked *slot)
{
	size_t hole = (size_t)(slot - waits->slot);

	free(slot->wait.chain.address);
	*slot = (struct tracked){0};
	waits->used--;
	/* Those after it that would have been put there are moved up. */
	for (size_t i = (hole + 1) % SLOTS; waits->slot[i].task; i = (i + 1) % SLOTS) {
		struct tracked moved = waits->slot[i];

		waits->slot[i].task = 0;
		*slot_of(waits, moved.task) = moved;
		if (waits->slot[i].task != moved.task)
			waits->slot[i] = (struct tracked){0};
	}
}

/* Passes on a wait that is over now, in the round at @time, and forgets it. */
static void end_wait(struct waits *waits, struct tracked *slot, uint64_t time,
		     struct sink *sink)
{
	slot->wait.to = time;
	slot->wait.is_over = true;
	sink_wait(sink, &slot->wait);
	free_slot(waits, slot);
}

/* A thread whose chain is to be read. */
struct candidate {
	struct thread thread;
	struct thread_wait wait;
	struct chain chain;
	bool is_read;
};

struct part {
	struct thread_view view;
	struct candidate candidate[PART_CHAINS];
	unsigned int candidates;
	uint64_t address[PART_CHAINS][CHAIN_ROOM];
};

static void begin_pages(const struct waits *waits, unsigned int map_calls)
{
	const struct guest *guest = waits->learning->guest;

	guest->ops->begin_pages(guest->memory, clock_monotonic(), map_calls);
}

/* Looks at one thread: ends its wait if it is over, and notes the thread if it waits for
 * something new. */
static void look_at(struct waits *waits, struct part *part, const struct thread *thread,
		    struct sink *sink)
{
	struct tracked *slot = slot_of(waits, thread->task);
	bool waits_now = thread_waits(&thread->moment);

	if (slot->task && slot->wait.process.tid == thread->tid && waits_now &&
	    thread_is_same(&slot->moment, &thread->moment)) {
		slot->seen = waits->round;
		if (!chain_end_is_cut(slot->wait.chain.end) || slot->tries == TRIES)
			return;
		slot->tries++;
	} else if (slot->task) {
		end_wait(waits, slot, waits->round, sink);
	}
	if (!waits_now || waits->used == THREADS_MAX)
		return;
	part->candidate[part->candidates++] = (struct candidate){.thread = *thread};
}

/* Moves on in the round until there is enough to do. */
static enum walk_step look_around(struct waits *waits, struct part *part,
				  struct sink *sink)
{
	enum walk_step step = WALK_THREAD;

	begin_pages(waits, PART_THREADS * THREAD_PAGES);
	if (!thread_walk_holds(&waits->walk, &part->view))
		return WALK_BROKEN;
	for (unsigned int i = 0; i < PART_THREADS && part->candidates < PART_CHAINS;
	     i++) {
		struct thread thread;

		step = thread_walk_step(&waits->walk, &part->view, &thread);
		if (step != WALK_THREAD)
			break;
		look_at(waits, part, &thread, sink);
	}
	return step;
}

/* Reads the chains of the part's candidates. */
static void read_chains(struct waits *waits, struct part *part)
{
	const struct unwind_input input = learning_input(
		waits->learning, waits->learning->guest->ops->map_page);

	code_notes_renew(input.notes);
	begin_pages(waits, CHAIN_MAPS);
	for (unsigned int i = 0; i < part->candidates; i++) {
		struct candidate *candidate = &part->candidate[i];

		candidate->chain.address = part->address[i];
		candidate->is_read = thread_read_wait(&part->view, &candidate->thread,
						      &candidate->wait);
		if (candidate->is_read)
			cpu_unwind(&candidate->wait.cpu, &input, &candidate->chain);
	}
}

/* Drops the candidates that have run since they were looked at: their chains may be of
 * two waits. */
static void drop_torn(struct waits *waits, struct part *part)
{
	unsigned int kept = 0;

	begin_pages(waits, PART_CHAINS * THREAD_PAGES);
	for (unsigned int i = 0; i < part->candidates; i++) {
		const struct candidate *candidate = &part->candidate[i];
		struct thread_moment moment;

		if (thread_read_moment(&part->view, candidate->thread.task, &moment) &&
		    thread_is_same(&candidate->thread.moment, &moment))
			part->candidate[kept++] = *candidate;
		else
			waits->counts.torn++;
	}
	part->candidates = kept;
}

/* Replaces the chain of a wait that goes on, if it was cut, by one that is not or is
 * longer. */
static void improve_wait(struct tracked *slot, const struct chain *chain,
			 uint64_t *address)
{
	struct chain *old = &slot->wait.chain;

	if (chain_end_is_cut(chain->end) && chain->count <= old->count) {
		free(address);
		return;
	}
	free(old->address);
	*old = *chain;
	old->address = address;
	slot->is_written = false;
}

/* Starts to follow the wait of a candidate, whose chain was read in one piece. */
static void begin_wait(struct waits *waits, const struct candidate *candidate)
{
	struct tracked *slot = slot_of(waits, candidate->thread.task);
	size_t size = candidate->chain.count * sizeof(*candidate->chain.address);
	uint64_t *address = malloc(size);

	if (!address)
		return;
	memcpy(address, candidate->chain.address, size);
	if (slot->task) {
		improve_wait(slot, &candidate->chain, address);
		return;
	}
	*slot = (struct tracked){.task = candidate->thread.task,
				 .moment = candidate->thread.moment,
				 .seen = waits->round,
				 .wait = {
					 .from = waits->round,
					 .domain = waits->index,
					 .state = candidate->wait.state,
					 .process = candidate->wait.process,
					 .chain = candidate->chain,
				 }};
	slot->wait.chain.address = address;
	waits->used++;
}

static void begin_waits(struct waits *waits, struct part *part)
{
	for (unsigned int i = 0; i < part->candidates; i++) {
		struct candidate *candidate = &part->candidate[i];

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
	for (size_t i = 0; i < SLOTS; i++) {
		struct tracked *slot = &waits->slot[i];

		if (!slot->task || slot->is_written ||
		    waits->round - slot->wait.from < age)
			continue;
		sink_wait(sink, &slot->wait);
		slot->is_written = true;
	}
}

static void pass_chunk(struct waits *waits, uint64_t age, struct sink *sink)
{
	struct waits_counts *counts = &waits->counts;
	struct waits_totals *totals = &waits->totals;

	pass_open(waits, age, sink);
	counts->until = waits->round;
	counts->period = waits->pace.period;
	sink_waits(sink, counts);
	totals->rounds += counts->rounds;
	totals->skipped += counts->skipped;
	totals->read += counts->read;
	totals->torn += counts->torn;
	totals->unread += counts->unread;
	totals->cpu_time += counts->cpu_time;
	*counts = (struct waits_counts){.threads = counts->threads};
}

/* Passes on a chunk if it is due, or if a new file has begun, which needs all waits that
 * go on. */
static void pass_chunks(struct waits *waits, struct sink *sink)
{
	uint64_t since = waits->round - waits->start;
	unsigned int files = sink_files(sink);

	if (files != waits->files) {
		for (size_t i = 0; waits->files && i < SLOTS; i++)
			waits->slot[i].is_written = false;
		if (waits->files)
			waits->chunk = waits->round;
		waits->files = files;
	}
	if (waits->round < waits->chunk)
		return;
	pass_chunk(waits, since / 2 < OLD_NS ? since / 2 : OLD_NS, sink);
	waits->chunk_wait *= 2;
	if (waits->chunk_wait > CHUNK_MOST)
		waits->chunk_wait = CHUNK_MOST;
	waits->chunk = waits->round + waits->chunk_wait;
}

/* Ends the waits of threads that are gone. */
static void end_unseen(struct waits *waits, struct sink *sink)
{
	for (size_t i = 0; i < SLOTS;) {
		struct tracked *slot = &waits->slot[i];

		if (slot->task && slot->seen != waits->round)
			end_wait(waits, slot, waits->round, sink);
		else
			i++;
	}
}

/* Begins the round of this time, or the first one after it. */
static void begin_round(struct waits *waits, uint64_t now)
{
	uint64_t number = (now - waits->start) / waits->pace.period;
	uint64_t time = waits->start + number * waits->pace.period;

	if (waits->round && time > waits->round + waits->pace.period)
		waits->counts.skipped += (time - waits->round) / waits->pace.period - 1;
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
		waits->last_full = waits->round;
		if (waits->walk.threads > waits->totals.threads)
			waits->totals.threads = waits->walk.threads;
	} else {
		waits->totals.is_broken |= waits->walk.threads >= THREADS_MAX;
	}
	pass_chunks(waits, sink);
}

/* Takes a part of the round. Returns whether the round is done. */
static bool take_part(struct waits *waits, struct sink *sink)
{
	static struct part part;
	enum walk_step step;

	part.candidates = 0;
	if (!thread_view_open(&part.view, waits->learning))
		return false;
	waits->totals.is_unknown = false;
	if (!waits->in_round)
		begin_round(waits, clock_monotonic());
	step = look_around(waits, &part, sink);
	if (part.candidates) {
		read_chains(waits, &part);
		drop_torn(waits, &part);
		/* Of copied pages, those of a moment may be from different times. */
		if (!waits->learning->guest->ops->are_pages_live)
			drop_torn(waits, &part);
		begin_waits(waits, &part);
	}
	if (step == WALK_THREAD)
		return false;
	end_round(waits, step == WALK_DONE, sink);
	return true;
}

void waits_take(struct waits *waits, struct sink *sink)
{
	uint64_t before = thread_cpu_time(), now, used;
	bool is_done = take_part(waits, sink);

	now = clock_monotonic();
	used = thread_cpu_time() - before;
	waits->counts.cpu_time += used;
	waits->due = now + (uint64_t)((double)used / waits->pace.max_cpu);
	if (is_done || !waits->in_round) {
		uint64_t number = (now - waits->start) / waits->pace.period + 1;
		uint64_t next = waits->start + number * waits->pace.period;

		if (waits->due < next)
			waits->due = next;
	}
}

void waits_end(struct waits *waits, struct sink *sink, bool is_over)
{
	if (waits->is_ended || !waits->round)
		return;
	waits->is_ended = true;
	for (size_t i = 0; is_over && i < SLOTS;)
		if (waits->slot[i].task)
			end_wait(waits, &waits->slot[i], waits->round, sink);
		else
			i++;
	pass_chunk(waits, 0, sink);
	waits->totals.time += waits->round - waits->start;
}

void waits_add(const struct waits *waits, struct waits_totals *totals)
{
	const struct waits_totals *more = &waits->totals;

	totals->rounds += more->rounds;
	totals->skipped += more->skipped;
	totals->read += more->read;
	totals->torn += more->torn;
	totals->unread += more->unread;
	totals->threads += more->threads;
	totals->cpu_time += more->cpu_time;
	totals->time += more->time;
	totals->is_broken |= more->is_broken;
	totals->is_unknown |= more->is_unknown;
}

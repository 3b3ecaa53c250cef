/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/threads/look.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

/* How often the chain of a thread is read that ran meanwhile */
#define READ_TRIES 5

/* How often the lists are read that changed meanwhile, and threads in all of that */
#define WALK_TRIES   200
#define WALK_THREADS (4 * THREADS_MAX)

/* Limit of map calls for a chain */
#define CHAIN_MAPS 256

/* Whether the thread still waits for what it waited for. */
static bool is_unchanged(const struct learning *learning, const struct thread_view *view,
			 const struct thread *thread)
{
	struct thread_moment moment;

	/* Copies of pages that tell one moment may be from different times. */
	for (int i = 0; i < (learning->guest->ops->are_pages_live ? 1 : 2); i++) {
		thread_begin_pages(learning, THREAD_PAGES);
		if (!thread_read_moment(view, thread->task, &moment) ||
		    !thread_is_same(&moment, &thread->moment))
			return false;
	}
	return true;
}

/* Reads the chain of a thread that waits. */
static enum thread_chain read_once(struct learning *learning,
				   const struct thread_view *view,
				   struct thread_seen *seen)
{
	const struct unwind_input input = learning_input(learning,
							 learning->guest->ops->map_page);

	thread_begin_pages(learning, CHAIN_MAPS);
	if (!thread_read_wait(view, &seen->thread, &seen->wait))
		return THREAD_UNREAD;
	code_notes_renew(input.notes);
	thread_unwind(&seen->wait, &input, &seen->chain);
	if (!thread_view_counts(view)) {
		thread_begin_pages(learning, CHAIN_MAPS);
		if (!thread_chain_holds(view, &seen->thread, &input, &seen->chain))
			return THREAD_TORN;
	}
	return is_unchanged(learning, view, &seen->thread) ? THREAD_READ : THREAD_TORN;
}

static enum thread_chain read_chain(struct learning *learning,
				    const struct thread_view *view,
				    struct thread_seen *seen)
{
	enum thread_chain kind = THREAD_TORN;

	for (int i = 0; i < READ_TRIES; i++) {
		thread_begin_pages(learning, THREAD_PAGES);
		if (!thread_read_moment(view, seen->thread.task, &seen->thread.moment))
			return THREAD_UNREAD;
		if (!thread_waits(&seen->thread.moment))
			return THREAD_RUNS;
		kind = read_once(learning, view, seen);
		/* A module may have been found on the way, whose code is next. */
		if (kind == THREAD_READ &&
		    !(chain_end_is_cut(seen->chain.end) &&
		      learning_study_wait(learning, &seen->wait.cpu, &seen->chain,
					  clock_monotonic())))
			break;
	}
	return kind;
}

/* Lists all threads; sets whether these were all. Nothing else is done meanwhile: in some
 * guests, threads change their places in the list whenever they run. -1 if out of memory.
 */
static int list_threads(struct learning *learning, const struct thread_view *view,
			struct threads_seen *seen)
{
	struct thread_walk walk = {0};
	enum walk_step step;
	struct thread thread;
	size_t room = 0;

	for (unsigned int i = 0;; i++) {
		if (i % WALK_PART == 0) {
			thread_begin_pages(learning, WALK_PART * THREAD_PAGES);
			if (!thread_walk_holds(&walk, view))
				return 0;
		}
		step = thread_walk_step(&walk, view, &thread);
		if (step != WALK_THREAD)
			break;
		if (thread.moment.has_ended)
			continue;
		if (seen->count == room) {
			room = room * 2 + 64;
			if (!array_grow(&seen->list, room, sizeof(*seen->list)))
				return -1;
		}
		seen->list[seen->count++] = (struct thread_seen){.thread = thread};
	}
	seen->is_full = step == WALK_DONE;
	return 0;
}

/* Reads the chain of a listed thread. -1 if out of memory. */
static int read_thread(struct learning *learning, const struct thread_view *view,
		       struct thread_seen *one)
{
	uint64_t address[CHAIN_ROOM];
	size_t size;

	one->chain.address = address;
	one->kind = read_chain(learning, view, one);
	one->chain.address = NULL;
	one->ran = thread_ran(view, one->thread.task);
	if (one->kind != THREAD_READ)
		return 0;
	size = one->chain.count * sizeof(*address);
	one->chain.address = malloc(size);
	if (!one->chain.address)
		return -1;
	memcpy(one->chain.address, address, size);
	return 0;
}

/* Reads the chains of the threads that have not ended since they were listed. -1 if out
 * of memory. */
static int read_threads(struct learning *learning, const struct thread_view *view,
			struct threads_seen *seen)
{
	size_t count = seen->count;

	seen->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct thread_seen *one = &seen->list[seen->count];

		*one = seen->list[i];
		if (read_thread(learning, view, one) < 0)
			return -1;
		if (one->thread.moment.has_ended)
			continue;
		if (one->ran > seen->now)
			seen->now = one->ran;
		seen->count++;
	}
	return 0;
}

int threads_look(struct learning *learning, struct threads_seen *seen, struct error *err)
{
	struct thread_view view;
	size_t walked = 0;

	*seen = (struct threads_seen){0};
	if (!thread_view_open(&view, learning))
		return error_set(err, "it is not known where the guest has its threads: "
				      "this needs a Linux kernel with types "
				      "(BTF), in its file or, while a vCPU is in the "
				      "kernel, in its memory; or a file of Unikraft or "
				      "Mini-OS with symbols");
	for (int i = 0; i < WALK_TRIES && walked < WALK_THREADS && !seen->is_full; i++) {
		threads_seen_free(seen);
		if (list_threads(learning, &view, seen) < 0)
			return error_set(err, "out of memory");
		walked += seen->count;
	}
	if (read_threads(learning, &view, seen) < 0)
		return error_set(err, "out of memory");
	return 0;
}

void threads_seen_free(struct threads_seen *seen)
{
	for (size_t i = 0; i < seen->count; i++)
		free(seen->list[i].chain.address);
	free(seen->list);
	*seen = (struct threads_seen){0};
}

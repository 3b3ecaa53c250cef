/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/markdown/threads.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "report/model/domains.h"
#include "output/markdown/cells.h"

/* Maximum number of rows */
#define MOST_THREADS 32

void wait_threads_free(struct wait_threads *threads)
{
	tree_free(&threads->index);
	free(threads->list);
	free(threads->number);
	*threads = (struct wait_threads){0};
}

/* Returns where the thread's place in the list is; NULL if out of memory. */
static uint32_t *find_number(struct wait_threads *threads, uint32_t domain, uint64_t tid)
{
	uint32_t node;

	if (!threads->index.count && tree_init(&threads->index, 1) < 0)
		return NULL;
	node = tree_intern(&threads->index, 0, domain);
	if (node != TREE_NONE)
		node = tree_intern(&threads->index, node, tid);
	if (node == TREE_NONE)
		return NULL;
	if (node >= threads->node_room) {
		if (!array_grow_zeroed(&threads->number, threads->node_room,
				       threads->index.capacity, sizeof(*threads->number)))
			return NULL;
		threads->node_room = threads->index.capacity;
	}
	return &threads->number[node];
}

/* Returns the thread that waits; NULL if out of memory. */
static struct wait_thread *find_thread(struct wait_threads *threads,
				       const struct counted_wait *wait)
{
	uint32_t *number = find_number(threads, wait->domain, wait->thread->tid);

	if (!number)
		return NULL;
	if (*number)
		return &threads->list[*number - 1];
	if (threads->count == threads->room) {
		size_t room = threads->room * 2 + 64;

		if (!array_grow(&threads->list, room, sizeof(*threads->list)))
			return NULL;
		threads->room = room;
	}
	threads->list[threads->count] = (struct wait_thread){
		.domain = wait->domain, .recording = wait->recording};
	*number = (uint32_t)++threads->count;
	return &threads->list[*number - 1];
}

struct wait_thread *wait_threads_add(struct wait_threads *threads,
				     const struct counted_wait *wait)
{
	unsigned int state = wait->state < WAIT_STATES ? wait->state : WAIT_UNKNOWN;
	struct wait_thread *thread = find_thread(threads, wait);

	if (!thread)
		return NULL;
	thread->thread = *wait->thread; /* its name may change: the last one is shown */
	thread->count++;
	thread->total += wait->count;
	thread->states[state] += wait->count;
	if (wait->count > thread->longest)
		thread->longest = wait->count;
	return thread;
}

static int compare_threads(const void *a, const void *b)
{
	const struct wait_thread *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	return (x->thread.tid > y->thread.tid) - (x->thread.tid < y->thread.tid);
}

/* -1 if out of memory. */
static int put_thread_row(const struct report *report, const struct wait_thread *thread)
{
	static const enum wait_state states[] = {WAIT_SLEEPING, WAIT_UNINTERRUPTIBLE,
						 WAIT_RUNNABLE, WAIT_IDLE};
	const struct recording_domain as_domain = {.process = thread->thread};
	uint32_t domain = frames_domain(report->frames, thread->domain);
	char name[DOMAIN_PROCESS_SIZE];
	FILE *out = report->out;

	if (domain == FRAMES_NONE)
		return -1;
	cells_share(report, thread->total);
	fprintf(out, "| %" PRIu64 " | ", thread->count);
	cell_count(report, thread->longest);
	putc(' ', out);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		fprintf(out, "| %.1f ",
			cell_percent(thread->states[states[i]], thread->total));
	cell_domain(report, frames_function_name(report->frames, domain));
	domain_process(name, &as_domain);
	fputs("| ", out);
	cell_text(out, name);
	fputs(" |\n", out);
	return 0;
}

int wait_threads_write(struct wait_threads *threads, const struct report *report)
{
	size_t shown = threads->count < MOST_THREADS ? threads->count : MOST_THREADS;
	uint64_t left = report->measure->total;
	FILE *out = report->out;

	if (threads->count)
		qsort(threads->list, threads->count, sizeof(*threads->list),
		      compare_threads);
	fputs("\n## Threads\n\nStates are in % of the thread's waiting time. Disk: it "
	      "could "
	      "not be interrupted; runnable: it waited for a vCPU; idle: for work.\n\n"
	      "| waiting time | % | waits | longest | sleeping | disk | runnable | idle ",
	      out);
	cell_domain_head(report, "| domain ");
	fputs("| thread |\n|--:|--:|--:|--:|--:|--:|--:|--:", out);
	cell_domain_head(report, "|---");
	fputs("|---|\n", out);
	for (size_t i = 0; i < shown; i++) {
		if (put_thread_row(report, &threads->list[i]) < 0)
			return -1;
		left -= threads->list[i].total;
	}
	cells_others(report, threads->count - shown, left, "| | | | | | ", "threads");
	return 0;
}

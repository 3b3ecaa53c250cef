/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/processes.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void processes_free(struct processes *processes)
{
	tree_free(&processes->index);
	free(processes->domain);
	*processes = (struct processes){0};
}

/* Returns the node of a process; TREE_NONE if out of memory. */
static uint32_t find_process(struct processes *processes, uint32_t domain,
			     const struct recording_process *process)
{
	uint64_t key[8] = {domain, process->space, process->pid, process->tid};
	uint32_t node = 0;

	_Static_assert(sizeof(process->comm) == 2 * sizeof(key[0]), "two keys");
	memcpy(&key[4], process->comm, sizeof(process->comm));
	memcpy(&key[6], process->thread, sizeof(process->thread));
	if (!processes->index.count && tree_init(&processes->index, 1) < 0)
		return TREE_NONE;
	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
		node = tree_intern(&processes->index, node, key[i]);
		if (node == TREE_NONE)
			return TREE_NONE;
	}
	if (node < processes->room)
		return node;
	if (!array_grow_zeroed(&processes->domain, processes->room,
			       processes->index.capacity, sizeof(*processes->domain)))
		return TREE_NONE;
	processes->room = processes->index.capacity;
	return node;
}

/* Sets @domain to the domain that stands for its process; -1 if out of memory. */
static int split_domain(struct processes *processes, struct summary *summary,
			uint32_t *domain, const struct recording_process *process)
{
	uint32_t node = find_process(processes, *domain, process), *known;

	if (node == TREE_NONE)
		return -1;
	known = &processes->domain[node];
	if (!*known) {
		uint32_t index = *domain;

		if (summary->process_count == SUMMARY_PROCESSES)
			processes->is_full = true;
		else if (summary_add_process(summary, *domain, process, &index) < 0)
			return -1;
		*known = index + 1;
	}
	*domain = *known - 1;
	return 0;
}

/* Sets @domain to the domain that stands for the sample's process, if that is known; -1
 * if out of memory. */
static int split_sample(struct processes *processes, struct summary *summary,
			const struct samples_batch *batch, size_t i, uint32_t *domain)
{
	struct recording_process process = batch->processes[batch->process[i]];

	*domain = batch->domain[i];
	if (!processes->threads) {
		process.tid = 0;
		memset(process.thread, 0, sizeof(process.thread));
	}
	if ((!process.space && !process.pid && !process.tid) ||
	    !summary_domain(summary, *domain))
		return 0;
	return split_domain(processes, summary, domain, &process);
}

int processes_split(struct processes *processes, struct summary *summary,
		    struct samples_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		uint32_t domain;

		if (split_sample(processes, summary, batch, i, &domain) < 0)
			return -1;
		batch->domain[i] = domain;
	}
	return 0;
}

int processes_count(struct processes *processes, struct summary *summary,
		    const struct samples_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		uint32_t domain;

		if (split_sample(processes, summary, batch, i, &domain) < 0)
			return -1;
		if (domain >= SUMMARY_FIRST_PROCESS)
			processes->weight[domain - SUMMARY_FIRST_PROCESS] +=
				batch->weight[i];
	}
	return 0;
}

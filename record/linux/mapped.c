/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/linux/mapped.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "unwind/returns.h"

/* Processes are kept in the same sets as their tasks (tasks_set()). */
#define WAYS 4

/* Maximum number of a process's mappings that are kept; code in others is not known */
#define RANGES_MAX 128

/* Looks are so far apart that they take 1/COST_FACTOR of a CPU. */
#define COST_FACTOR 50

/* Time between two looks at a process, ns: the first, and the last after each look has
 * shown nothing new. Code that a program makes at run time is in no file. */
#define WAIT_FIRST NS_PER_S
#define WAIT_LAST  (64 * NS_PER_S)

struct known {
	uint64_t space; /* 0: none */
	uint32_t pid;
	uint32_t count;
	uint64_t due;  /* no further look before this, ns, monotonic */
	uint64_t wait; /* ns */
	struct range {
		uint64_t start, end;
	} range[RANGES_MAX]; /* by address */
};

struct mapped {
	const struct mapping_layout *layout;
	uint64_t due; /* of the next look, ns, monotonic */
	struct known known[TASK_SETS]
			  [WAYS]; /* in a set, the one looked at last is first */
};

struct mapped *mapped_new(const struct mapping_layout *layout)
{
	struct mapped *mapped = calloc(1, sizeof(*mapped));

	if (mapped)
		mapped->layout = layout;
	return mapped;
}

void mapped_free(struct mapped *mapped)
{
	free(mapped);
}

void mapped_forget(struct mapped *mapped)
{
	memset(mapped->known, 0, sizeof(mapped->known));
}

/* Returns the position of the process in its set; WAYS if it is not in the set. */
static size_t find_way(const struct known *set, const struct recording_process *process)
{
	size_t way = 0;

	while (way < WAYS &&
	       (set[way].space != process->space || set[way].pid != process->pid))
		way++;
	return way;
}

static bool has_address(const struct known *known, uint64_t address)
{
	for (uint32_t i = 0; i < known->count; i++)
		if (address >= known->range[i].start && address < known->range[i].end)
			return true;
	return false;
}

/* Whether all of the process's own code in the chain is in known files. Of a captured
 * stack, only the first address is code for sure. */
static bool is_covered(const struct known *known, const struct chain *chain)
{
	uint32_t count = chain->is_stack && chain->count ? 1 : chain->count;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t address = chain->address[i] - (i > 0);

		if (!is_in_upper_half(address) && !chain_mark_name(chain->address[i]) &&
		    !has_address(known, address))
			return false;
	}
	return true;
}

bool mapped_is_due(const struct mapped *mapped, const struct recording_process *process,
		   const struct chain *chain, uint64_t now)
{
	const struct known *set = mapped->known[tasks_set(process->space)];
	size_t way;

	if (!process->pid || now < mapped->due)
		return false;
	way = find_way(set, process);
	return way == WAYS || (now >= set[way].due && !is_covered(&set[way], chain));
}

/* Moves the process to the start of its set. If it is not in the set, it takes the place
 * of the one that was looked at first. */
static struct known *first_in_set(struct known *set,
				  const struct recording_process *process)
{
	struct known known = {.space = process->space, .pid = process->pid};
	size_t way = find_way(set, process);

	if (way < WAYS)
		known = set[way];
	else
		way--;
	memmove(set + 1, set, way * sizeof(*set));
	set[0] = known;
	return set;
}

/* Keeps the mappings; false if they are the known ones. */
static bool keep_mappings(struct known *known, const struct process_mappings *mappings)
{
	struct range range[RANGES_MAX] = {0};
	uint32_t count = 0;

	while (count < mappings->count && count < RANGES_MAX) {
		const struct mapping *mapping = &mappings->list[count];

		range[count++] = (struct range){mapping->start, mapping->end};
	}
	if (count == known->count &&
	    memcmp(range, known->range, count * sizeof(*range)) == 0)
		return false;
	memcpy(known->range, range, count * sizeof(*range));
	known->count = count;
	return true;
}

/* Reads the mappings. False if the process can't be read now, or not as a whole. */
static bool read_process(const struct mapped *mapped, const struct tasks *tasks,
			 const struct cpu *cpu, const struct guest_memory *memory,
			 struct process_mappings *mappings)
{
	struct cpu here = *cpu, after = *cpu;
	struct mapping_view view = {.cpu = &here,
				    .memory = memory,
				    .layout = mapped->layout,
				    .left = MAPPING_PIECES};
	uint64_t mm, mm_after;

	return tasks_memory(tasks, &here, memory, &mappings->process, &mm) &&
	       mappings_read(&view, mm, mappings) &&
	       tasks_memory(tasks, &after, memory, &mappings->process, &mm_after) &&
	       mm_after == mm;
}

struct process_mappings *mapped_look(struct mapped *mapped, const struct tasks *tasks,
				     const struct cpu *cpu,
				     const struct guest_memory *memory,
				     const struct recording_process *process,
				     uint64_t now)
{
	struct known *known = first_in_set(mapped->known[tasks_set(process->space)],
					   process);
	struct process_mappings *mappings = malloc(sizeof(*mappings));
	uint64_t start = clock_monotonic();
	bool is_new = false;

	if (mappings) {
		mappings->time = now;
		mappings->process = *process;
		is_new = read_process(mapped, tasks, cpu, memory, mappings) &&
			 keep_mappings(known, mappings);
	}
	known->wait = is_new || !known->wait ? WAIT_FIRST : 2 * known->wait;
	if (known->wait > WAIT_LAST)
		known->wait = WAIT_LAST;
	known->due = now + known->wait;
	mapped->due = now + COST_FACTOR * (clock_monotonic() - start);
	if (is_new)
		return mappings;
	free(mappings);
	return NULL;
}

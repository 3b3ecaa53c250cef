/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/linux/kernel_copy.h"

#include <stdlib.h>

#include "base/clock.h"

/* Pages after which a look ends, and how many times its CPU time passes until the next
 * one */
#define LOOK_PAGES  (KERNEL_COPY_MAPS / 2)
#define COST_FACTOR 4

/* Time after a look that found a page missing, ns, and number of such looks */
#define RETRY_NS    (NS_PER_S / 4)
#define MISSING_MAX 8

void kernel_copy_begin(struct kernel_copy *copy)
{
	size_t size = 0;

	for (int i = 0; i < KERNEL_PARTS; i++)
		size += copy->part[i].size;
	copy->bytes = malloc(size);
	copy->size = copy->bytes ? size : 0;
	copy->done = 0;
}

void kernel_copy_end(struct kernel_copy *copy)
{
	free(copy->bytes);
	copy->bytes = NULL;
	copy->size = 0;
}

bool kernel_copy_is_due(const struct kernel_copy *copy, uint64_t now)
{
	return copy->size && now >= copy->due;
}

/* Copies up to a page of the next part. False if it is missing. */
static bool copy_page(struct kernel_copy *copy, const struct cpu *cpu,
		      const struct guest_memory *memory)
{
	const struct kernel_part *part = copy->part;
	size_t at = copy->done, size;

	for (; at >= part->size; part++)
		at -= part->size;
	size = part->size - at < GUEST_PAGE_SIZE ? part->size - at : GUEST_PAGE_SIZE;
	if (!cpu_copy(cpu, memory, part->address + at, copy->bytes + copy->done, size))
		return false;
	copy->done += size;
	return true;
}

bool kernel_copy_look(struct kernel_copy *copy, const struct cpu *cpu,
		      const struct guest_memory *memory, uint64_t now)
{
	uint64_t begun = clock_thread();

	if (copy->done == copy->size)
		return true;
	for (size_t i = 0; i < LOOK_PAGES && copy->done < copy->size; i++) {
		if (!copy_page(copy, cpu, memory)) {
			copy->due = now + RETRY_NS;
			if (++copy->missing == MISSING_MAX)
				kernel_copy_end(copy);
			return false;
		}
		if (clock_thread() - begun >= KERNEL_LOOK_NS)
			break;
	}
	kernel_copy_rest(copy, now, begun);
	return false;
}

void kernel_copy_rest(struct kernel_copy *copy, uint64_t now, uint64_t begun)
{
	copy->due = now + COST_FACTOR * (clock_thread() - begun);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/counts.h"

#include <stdlib.h>

#include "base/array.h"

int counts_init(struct counts *counts)
{
	*counts = (struct counts){0};
	return tree_init(&counts->keys, 1);
}

void counts_free(struct counts *counts)
{
	tree_free(&counts->keys);
	free(counts->sums);
}

int counts_add(struct counts *counts, uint64_t key, uint64_t count)
{
	uint32_t node = tree_intern(&counts->keys, 0, key);

	if (node == TREE_NONE)
		return -1;
	if (node >= counts->capacity) {
		uint32_t capacity = counts->keys.capacity;

		if (!array_grow_zeroed(&counts->sums, counts->capacity, capacity,
				       sizeof(*counts->sums)))
			return -1;
		counts->capacity = capacity;
	}
	counts->sums[node] += count;
	return 0;
}

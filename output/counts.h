/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_COUNTS_H
#define UNIPROF_OUTPUT_COUNTS_H

#include "base/tree.h"

/* Sums by a key of 64 bits, such as a chain and a vCPU, in order of appearance. */
struct counts {
	struct tree keys; /* one root; the other nodes are keys */
	uint64_t *sums;	  /* by node of keys */
	uint32_t capacity;
};

/* -1 if out of memory; counts_free() must be called either way, and accepts zeros. */
int counts_init(struct counts *counts);
void counts_free(struct counts *counts);

/* Adds @count to the sum of the key. -1 if out of memory. */
int counts_add(struct counts *counts, uint64_t key, uint64_t count);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_CHUNKS_H
#define UNIPROF_OUTPUT_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#include "report/load/summary.h"

/* A recording's counts after one of its chunks. */
struct chunk_counts {
	uint64_t time; /* of the chunk's first sample that counts, ns */
	uint64_t pauses, paused, missed, lost;
	uint64_t samples, weight; /* weight: samples that the recorded ones stand for */
};

/* The counts of a recording, which change with its chunks, over time. Starts as zeros. */
struct chunks {
	struct chunk_counts *list;
	size_t count, room;
};

void chunks_free(struct chunks *chunks);

/* Notes the counts of the recording so far, at a sample's time. -1 if out of memory. */
int chunks_note(struct chunks *chunks, const struct summary *summary, uint64_t time);

/* Returns what chunk @i, below the count, has counted itself. */
struct chunk_counts chunks_own(const struct chunks *chunks, size_t i);

/* Returns the rounds that were taken or, at a lowered rate, left out on purpose. */
uint64_t chunk_rounds(const struct chunk_counts *own);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_SUMS_H
#define UNIPROF_FORMAT_SUMS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The totals of a recording's chunks. Their limits depend on the number of bytes in the
 * file, because hostile chunks compress to almost nothing (FORMAT.md, 10).
 */
struct recording_sums {
	uint64_t payload; /* decoded payloads of all chunks, bytes */
	uint64_t samples;
	uint64_t nodes;
	uint64_t names;		/* number of names and their lines */
	uint64_t names_payload; /* decoded payloads of NAMES chunks, bytes */
};

void sums_add(struct recording_sums *sums, const struct recording_sums *more);

/* Returns whether the totals are within the limits for the first @bytes of a
 * recording. */
bool sums_fit(const struct recording_sums *sums, uint64_t bytes);

#endif

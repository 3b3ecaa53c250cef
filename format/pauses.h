/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_PAUSES_H
#define UNIPROF_FORMAT_PAUSES_H

#include <stdint.h>

/*
 * A histogram of pause lengths. Buckets are exact below 64 ns and 1/32 of their octave
 * wide above, so the error of any quantile is at most 3.2 %.
 */
#define PAUSES_BUCKETS 1920

struct pauses {
	uint64_t count;
	uint64_t sum; /* ns */
	uint64_t max; /* ns, exact */
	uint64_t bucket[PAUSES_BUCKETS];
};

void pauses_add(struct pauses *pauses, uint64_t ns);
void pauses_merge(struct pauses *into, const struct pauses *from);
/* Returns the length in ns that the fraction @part (0 to 1) of the pauses does not
 * exceed; 0 if there are no pauses. */
uint64_t pauses_quantile(const struct pauses *pauses, double part);
/* Returns the shortest pause length that @bucket counts, ns. */
uint64_t pauses_bucket_start(unsigned int bucket);

#endif

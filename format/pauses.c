/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/pauses.h"

/* log2 of the number of buckets in an octave */
#define BITS 5

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int shift;

	if (ns < 1u << BITS)
		return (unsigned int)ns;
	shift = 63 - BITS - (unsigned int)__builtin_clzll(ns);
	return (shift << BITS) + (unsigned int)(ns >> shift);
}

uint64_t pauses_bucket_start(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 2u << BITS)
		return bucket;
	shift = (bucket >> BITS) - 1;
	return (uint64_t)(bucket - (shift << BITS)) << shift;
}

void pauses_add(struct pauses *pauses, uint64_t ns)
{
	pauses->count++;
	pauses->sum += ns;
	if (ns > pauses->max)
		pauses->max = ns;
	pauses->bucket[bucket_of(ns)]++;
}

void pauses_merge(struct pauses *into, const struct pauses *from)
{
	into->count += from->count;
	into->sum += from->sum;
	if (from->max > into->max)
		into->max = from->max;
	for (unsigned int i = 0; i < PAUSES_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
}

uint64_t pauses_quantile(const struct pauses *pauses, double part)
{
	/* For a @part of 1, the count itself: as a double, a count near 2^64 becomes
	 * 2^64. */
	uint64_t wanted = part < 1 ? (uint64_t)(part * (double)pauses->count)
				   : pauses->count;
	uint64_t seen = 0;

	for (unsigned int i = 0; i < PAUSES_BUCKETS; i++) {
		uint64_t start = pauses_bucket_start(i), width;

		seen += pauses->bucket[i];
		if (!pauses->bucket[i] || seen <= wanted)
			continue;
		width = i + 1 < PAUSES_BUCKETS ? pauses_bucket_start(i + 1) - start : 0;
		start += width / 2;
		return start < pauses->max ? start : pauses->max;
	}
	return pauses->max;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/chunks.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "report/model/measure.h"

void chunks_free(struct chunks *chunks)
{
	free(chunks->list);
}

/* Whether counts other than times are equal. */
static bool is_same(const struct chunk_counts *x, const struct chunk_counts *y)
{
	return x->pauses == y->pauses && x->missed == y->missed && x->lost == y->lost;
}

int chunks_note(struct chunks *chunks, const struct summary *summary, uint64_t time)
{
	const struct sampling_counts *counts = &summary->counts;
	const struct chunk_counts chunk = {
		.time = time,
		.pauses = counts->pauses.count,
		.paused = counts->pauses.sum,
		.missed = counts->missed,
		.lost = counts->lost,
		.samples = summary->samples,
		.weight = summary->weight,
	};
	static const struct chunk_counts none;
	size_t count = chunks->count;

	if (is_same(&chunk, count ? &chunks->list[count - 1] : &none))
		return 0;
	if (count == chunks->room) {
		size_t room = count * 2 + 16;

		if (!array_grow(&chunks->list, room, sizeof(*chunks->list)))
			return -1;
		chunks->room = room;
	}
	chunks->list[chunks->count++] = chunk;
	return 0;
}

struct chunk_counts chunks_own(const struct chunks *chunks, size_t i)
{
	struct chunk_counts own = chunks->list[i];

	if (i) {
		const struct chunk_counts *before = &chunks->list[i - 1];

		own.pauses -= before->pauses;
		own.paused -= before->paused;
		own.missed -= before->missed;
		own.lost -= before->lost;
		own.samples -= before->samples;
		own.weight -= before->weight;
	}
	return own;
}

uint64_t chunk_rounds(const struct chunk_counts *own)
{
	double rounds = (double)own->pauses;

	if (own->samples)
		rounds *= (double)own->weight / (double)own->samples;
	return rounds < (double)MEASURE_MOST ? (uint64_t)(rounds + 0.5) : MEASURE_MOST;
}

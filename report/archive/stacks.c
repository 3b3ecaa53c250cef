/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/archive/stacks.h"

static int encode(struct samples_encoder *encoder, const struct ahead_chunk *chunk,
		  struct buffer *payload)
{
	uint64_t address[RECORDING_MAX_DEPTH];

	for (size_t i = 0; i < chunk->batch.count; i++) {
		struct sample sample = samples_batch_sample(&chunk->batch, i, address);

		sample.chain.is_stack = false; /* not any more */
		if (samples_encoder_add(encoder, &sample) < 0)
			return -1;
	}
	if (chunk->place.is_known)
		place_put(payload, chunk->place.mark, chunk->place.number);
	samples_encoder_finish(encoder, &chunk->batch.counts, payload);
	return payload->failed ? -1 : 0;
}

int archive_stacks(struct ahead_chunk *chunk)
{
	struct samples_encoder *encoder = samples_encoder_new();
	struct buffer payload = {0};
	int status = encoder ? encode(encoder, chunk, &payload) : -1;

	samples_encoder_free(encoder);
	if (status < 0) {
		buffer_free(&payload);
		return -1;
	}
	buffer_free(&chunk->payload);
	chunk->payload = payload;
	chunk->payload_size = payload.size;
	chunk->nodes = chunk->batch.nodes;
	return 0;
}

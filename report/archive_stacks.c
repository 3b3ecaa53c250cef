/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/archive_stacks.h"

static struct sample sample_of(const struct samples_batch *batch, size_t i,
			       uint64_t *address)
{
	struct sample sample = {
		.time = batch->time[i],
		.domain = batch->domain[i],
		.vcpu = batch->vcpu[i],
		.weight = batch->weight[i],
		.state = (uint8_t)batch->state[i],
		.cpu_time = batch->cpu_time[i],
		.has_cpu_time = batch->has_cpu_time,
		.chain.address = address,
		.chain.frameless = batch->chain_kind[i] == CHAIN_KIND_FRAMELESS,
		.process = batch->processes[batch->process[i]],
	};
	uint32_t node = batch->stack[i];

	for (; node >= SAMPLES_ROOTS; node = batch->parent[node])
		address[sample.chain.count++] = batch->address[node];
	sample.chain.end = (enum chain_end)node;
	return sample;
}

static int encode(struct samples_encoder *encoder, const struct ahead_chunk *chunk,
		  struct buffer *payload)
{
	uint64_t address[RECORDING_MAX_DEPTH];

	for (size_t i = 0; i < chunk->batch.count; i++) {
		struct sample sample = sample_of(&chunk->batch, i, address);

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
	return 0;
}

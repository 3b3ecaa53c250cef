/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_SAMPLES_H
#define UNIPROF_FORMAT_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "format/buffer.h"
#include "format/pauses.h"
#include "format/recording.h"

/*
 * A chunk of samples: columns, and a dictionary of call chains that is a tree.
 * Each node is an address and the node of its caller. The first
 * SAMPLES_ROOTS nodes are no addresses: a chain's outermost frame has the root
 * as its caller whose number is the chain's enum chain_end.
 */
#define SAMPLES_ROOTS 16

/* A sample's stack is stored as two numbers, the second in units of this. */
#define STACK_LOW 128

/* What happened to the sampling itself in the time that a chunk covers. */
struct sampling_counts {
	uint64_t lost;	 /* samples that there was no room to keep */
	uint64_t missed; /* deadlines that passed before they could be met */
	struct pauses pauses;
};

/* Collects samples until they are made a chunk of. */
struct samples_encoder;

/* NULL when memory is short. */
struct samples_encoder *samples_encoder_new(void);
void samples_encoder_free(struct samples_encoder *encoder);

/* Copies one sample in. -1 when memory is short; the sample is then left out. */
int samples_encoder_add(struct samples_encoder *encoder, const struct sample *sample);

/* Whether it is time to make a chunk, for the chunk's size. */
bool samples_encoder_full(const struct samples_encoder *encoder);
size_t samples_encoder_count(const struct samples_encoder *encoder);

/* Appends the payload of a CHUNK_SAMPLES, and starts anew. It has CPU times only
 * when all of its samples do: a column has no word for "not known". */
void samples_encoder_finish(struct samples_encoder *encoder,
			    const struct sampling_counts *counts, struct buffer *payload);

/* A decoded chunk. Arrays belong to the batch and are reused by the next. */
struct samples_batch {
	size_t count;
	uint64_t *time;
	uint32_t *domain;
	uint32_t *vcpu;
	uint32_t *state;
	uint32_t *weight;
	uint32_t *stack;    /* node of the leaf; a root for a sample without a chain */
	uint64_t *cpu_time; /* ns since the vCPU's last sample; has_cpu_time or 0 */
	bool has_cpu_time;
	uint32_t *frameless; /* 1: the direct caller was found without a frame */

	size_t nodes; /* roots included */
	uint32_t *parent;
	uint64_t *address;
	uint16_t *depth; /* addresses up to the root: 0 for a root */
	uint32_t *ends;	 /* by the file's number of a chain: the node where it ends */
	/* While they are decoded, by node (struct callees): */
	uint32_t *next_callee, *last_callee;

	struct sampling_counts counts;

	size_t sample_capacity;
	size_t node_capacity;
};

/*
 * Decodes the payload of a CHUNK_SAMPLES into @batch, all of it checked: every
 * parent is a node before its child, every stack is a node, vCPUs, domains and
 * depths are within the format's limits. -1 when it is damaged or memory is
 * short.
 */
int samples_decode(struct cursor payload, struct samples_batch *batch);
void samples_batch_free(struct samples_batch *batch);

/* The fields of a CHUNK_SAMPLES (FORMAT.md). */
enum samples_tag {
	SAMPLES_COUNT = 1,
	SAMPLES_BASE_TIME = 2,
	SAMPLES_TIME = 3,
	SAMPLES_TIME_UNIT = 4,
	SAMPLES_TIME_STEP = 5,
	SAMPLES_SAME_TIME = 6,
	SAMPLES_DOMAIN = 7,
	SAMPLES_VCPU = 8,
	SAMPLES_STATE = 9,
	SAMPLES_WEIGHT = 10,
	SAMPLES_CPU_TIME = 11,
	SAMPLES_CPU_TIME_UNIT = 12,
	SAMPLES_CPU_TIME_USUAL = 13,
	SAMPLES_FRAMELESS = 14,
	SAMPLES_STACK = 15,
	SAMPLES_STACK_HIGH = 16,
	SAMPLES_NODES = 17,
	SAMPLES_DROP = 18,
	SAMPLES_GROWTH = 19,
	SAMPLES_KNOWN = 20,
	SAMPLES_NEAR = 21,
	SAMPLES_CALL = 22,
	SAMPLES_CALL_LOW = 23,
	SAMPLES_LOST = 24,
	SAMPLES_MISSED = 25,
	SAMPLES_PAUSES = 26,
	SAMPLES_PAUSE_SUM = 27,
	SAMPLES_PAUSE_MAX = 28,
};

#endif

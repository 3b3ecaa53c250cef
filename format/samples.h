/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_SAMPLES_H
#define UNIPROF_FORMAT_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "format/buffer.h"
#include "format/pauses.h"
#include "format/recording.h"

/*
 * A chunk of samples: columns, and a tree of call chains. Each node is an address and
 * the node of its caller. The first SAMPLES_ROOTS nodes are roots without an address: the
 * caller of a chain's outermost frame is the root with the number of the chain's enum
 * chain_end.
 */
#define SAMPLES_ROOTS 16

/* A sample's chain number is stored in two columns: modulo STACK_LOW, and divided by
 * it. */
#define STACK_LOW 128

/* What a chunk says of the sampling in the time it covers. */
struct sampling_counts {
	uint64_t lost;	 /* samples lost because the buffer was full */
	uint64_t missed; /* deadlines that passed before they could be met */
	/* Number of links of chains by their result (enum program_link) when compared
	 * with the code of the guest's programs, weighted like their samples. */
	uint64_t links[LINK_KINDS];
	struct pauses pauses;
};

/* Collects samples for a chunk. */
struct samples_encoder;

/* Returns an empty encoder; NULL if out of memory. */
struct samples_encoder *samples_encoder_new(void);
void samples_encoder_free(struct samples_encoder *encoder);

/* Adds a copy of a sample. -1 if out of memory; the sample is then skipped. */
int samples_encoder_add(struct samples_encoder *encoder, const struct sample *sample);

/* Returns whether the chunk is large enough to be written. */
bool samples_encoder_full(const struct samples_encoder *encoder);
size_t samples_encoder_count(const struct samples_encoder *encoder);
size_t samples_encoder_nodes(const struct samples_encoder *encoder);

/* Appends the payload of a CHUNK_SAMPLES and empties the encoder. The payload contains
 * CPU times only if all samples have one: a column can't represent "not known". @counts:
 * NULL leaves them out, as in a CHUNK_WAITS. */
void samples_encoder_finish(struct samples_encoder *encoder,
			    const struct sampling_counts *counts, struct buffer *payload);

/* What a sample has as its chain. */
enum chain_kind {
	CHAIN_KIND_FRAMES,
	CHAIN_KIND_FRAMELESS, /* the direct caller was found without a frame */
	CHAIN_KIND_STACK,     /* a captured stack (unwind/stack/stack.h) */
	CHAIN_KINDS
};

/* A decoded chunk of samples. Its arrays are reused for the next chunk. */
struct samples_batch {
	size_t count;
	uint64_t *time;
	uint32_t *domain;
	uint32_t *vcpu;
	uint32_t *state;
	uint32_t *weight;
	uint32_t *stack;    /* node of the leaf; a root if the sample has no chain */
	uint64_t *cpu_time; /* ns since the vCPU's last sample; 0 without has_cpu_time */
	bool has_cpu_time;
	uint32_t *chain_kind;		     /* enum chain_kind */
	uint64_t *exit;			     /* exit_make(), or 0 */
	uint32_t *process;		     /* index in @processes */
	struct recording_process *processes; /* at least one, if there are samples */
	size_t process_count;

	size_t nodes; /* roots included */
	uint32_t *parent;
	uint64_t *address;
	uint16_t *depth; /* number of addresses up to the root; 0 for a root */
	uint32_t *ends;	 /* node where each chain of the chunk ends */
	/* Used during decoding, by node (struct callees): */
	uint32_t *next_callee, *last_callee;

	struct sampling_counts counts;

	size_t sample_capacity;
	size_t node_capacity;
	bool has_stacks; /* some chains are captured stacks */
	bool no_memory;	 /* the last chunk was not damaged, but out of memory */
};

/*
 * Decodes the payload of a CHUNK_SAMPLES into @batch and checks all of it: every parent
 * is a node before its child, every stack is a node, and vCPUs, domains and depths are
 * within the format's limits. -1 if the payload is damaged, or if out of memory, which
 * also sets @batch->no_memory.
 */
int samples_decode(struct cursor payload, struct samples_batch *batch);
/* Returns sample @i, with its chain copied to @address, which has room for
 * RECORDING_MAX_DEPTH addresses. */
struct sample samples_batch_sample(const struct samples_batch *batch, size_t i,
				   uint64_t *address);
/* Makes room in the tree for @nodes nodes, roots included. False if out of memory. */
bool samples_batch_grow(struct samples_batch *batch, size_t nodes);
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
	SAMPLES_CHAIN_KIND = 14,
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
	SAMPLES_LINKS_PROVEN = 29,
	SAMPLES_LINKS_POSSIBLE = 30,
	SAMPLES_LINKS_IMPOSSIBLE = 31,
	SAMPLES_LINKS_UNKNOWN = 32,
	SAMPLES_SPACES = 33,
	SAMPLES_SPACE = 34,
	SAMPLES_PID = 35,
	SAMPLES_COMM = 36,
	SAMPLES_EXIT = 37,
	SAMPLES_TID = 38,
	SAMPLES_THREAD = 39,
};

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_WAITS_H
#define UNIPROF_FORMAT_WAITS_H

#include "format/samples.h"

/*
 * A chunk of waits of a guest's threads (FORMAT.md, 5.8). It has the columns of a chunk
 * of samples, whose time is when a wait was first seen, and more of them.
 */

/* What a chunk says of the rounds in the time it covers: in each round, the guest's
 * threads were looked at. */
struct waits_counts {
	/* When the last round was, ns, CLOCK_MONOTONIC: until then, waits that are not
	 * over went on. */
	uint64_t until;
	uint64_t period; /* requested time from one round to the next, ns */
	uint64_t rounds; /* rounds since the last chunk */
	uint64_t
		skipped; /* rounds left out, as they would have taken too much CPU time */
	uint64_t threads;  /* threads in the last round */
	uint64_t read;	   /* chains read, whole or cut */
	uint64_t torn;	   /* thrown away, as the thread ran meanwhile */
	uint64_t unread;   /* waits without a chain: no memory, too many threads ... */
	uint64_t cpu_time; /* that the rounds took on the host, ns */
};

/* Adds what a domain's rounds had: sums, and the latest and the largest of the others. */
void waits_counts_add(struct waits_counts *to, const struct waits_counts *more);

/* Collects waits for a chunk. */
struct waits_encoder;

/* Returns an empty encoder; NULL if out of memory. */
struct waits_encoder *waits_encoder_new(void);
void waits_encoder_free(struct waits_encoder *encoder);

/* Adds a copy of a wait. -1 if out of memory; the wait is then skipped. */
int waits_encoder_add(struct waits_encoder *encoder, const struct wait *wait);

/* As for samples_encoder_*(). */
bool waits_encoder_full(const struct waits_encoder *encoder);
size_t waits_encoder_count(const struct waits_encoder *encoder);

/* Appends the payload of a CHUNK_WAITS and empties the encoder. Returns the number of
 * nodes in its call tree, without roots. A wait that is over before it begins has no
 * length, and
 * @counts->until is raised to the latest time of a wait. */
size_t waits_encoder_finish(struct waits_encoder *encoder,
			    const struct waits_counts *counts, struct buffer *payload);

/* A decoded chunk of waits. Its arrays are reused for the next chunk. */
struct waits_batch {
	/* The waits as samples: time (when the wait was first seen), domain, state (enum
	 * wait_state), stack and process are meant; vcpu is 0 and weight 1. */
	struct samples_batch samples;
	bool *is_over;
	uint64_t *to; /* ns: when it was over; if it is not, until when it went on */
	size_t capacity;
	struct waits_counts counts;
};

/* Decodes the payload of a CHUNK_WAITS into @batch and checks all of it, like
 * samples_decode(): time <= to <= counts.until, and no chain is a captured stack. */
int waits_decode(struct cursor payload, struct waits_batch *batch);
/* Returns wait @i, with its chain copied to @address, which has room for
 * RECORDING_MAX_DEPTH addresses. */
struct wait waits_batch_wait(const struct waits_batch *batch, size_t i,
			     uint64_t *address);
void waits_batch_free(struct waits_batch *batch);

/* The fields of a CHUNK_WAITS beyond those of a CHUNK_SAMPLES. */
enum waits_tag {
	WAITS_LENGTH = 40,
	WAITS_LENGTH_UNIT = 41,
	WAITS_UNTIL = 42,
	WAITS_PERIOD = 43,
	WAITS_ROUNDS = 44,
	WAITS_SKIPPED = 45,
	WAITS_THREADS = 46,
	WAITS_READ = 47,
	WAITS_TORN = 48,
	WAITS_UNREAD = 49,
	WAITS_CPU_TIME = 50,
};

#endif

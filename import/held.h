/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_IMPORT_HELD_H
#define UNIPROF_IMPORT_HELD_H

#include "base/error.h"
#include "base/tree.h"
#include "format/writer.h"

/*
 * Samples with periods, held in memory until all periods are known. If all periods are
 * equal, samples count 1 each; otherwise they are weighted by their periods.
 */

/* The unit of periods. */
enum import_unit {
	IMPORT_EVENTS,
	IMPORT_CPU_NS, /* CPU time of the task; also written as the samples' CPU time */
};

/* How samples were weighted. */
struct import_weights {
	bool by_period; /* weighted by period; else each sample counts 1 */
	enum import_unit periods;
	uint64_t unit; /* events, or ns, that a weight of 1 stands for */
};

struct held_sample;

struct held {
	struct tree chains; /* of addresses, from the outermost callers down */
	struct held_sample *samples;
	size_t count, capacity;
	uint64_t least, most;  /* smallest and largest period */
	double sum;	       /* sum of all periods */
	bool lacks_periods;    /* some samples have no period */
	enum import_unit unit; /* unit of the periods; set by the caller */
};

#define HELD_MAX_PERIOD ((uint64_t)1 << 62)

/* Maximum sum of all weights: samples above RECORDING_MAX_WEIGHT are then split into
 * 232,831 records at most. Less than MEASURE_MOST, so that reports count all of it. */
#define HELD_MAX_WEIGHT ((uint64_t)1000000000000000)

/* Writes a sample with the weight @weight. A weight above RECORDING_MAX_WEIGHT is
 * split over several records, of which the first has the CPU time. Errors: see
 * writer_sample(). */
int held_write_sample(struct writer *writer, struct sample *sample, uint64_t weight,
		      struct error *err);

/* Starts without samples. -1 if out of memory; held_free() is then still allowed. */
int held_init(struct held *held);
void held_free(struct held *held);

/* Copies a sample and its chain; its weight and CPU time are not used. @period is 0
 * if unknown, and at most HELD_MAX_PERIOD. -1 if out of memory. */
int held_add(struct held *held, const struct sample *sample, uint64_t period);

/* Writes all samples in order. Errors: see writer_sample(). */
int held_write(struct held *held, struct writer *writer, struct import_weights *weights,
	       struct error *err);

#endif

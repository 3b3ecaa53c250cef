/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MEASURE_H
#define UNIPROF_REPORT_MEASURE_H

#include <stdbool.h>

#include "report/summary.h"
#include "report/tree.h"

/* What a sample counts for. */
enum measure_weight {
	MEASURE_SAMPLES,  /* the samples it stands for */
	MEASURE_CPU_TIME, /* us that its vCPU ran, see below */
	MEASURE_WALL,	  /* us since its vCPU's last sample; 0 in the first */
};

/*
 * CPU time is what the vCPU used since its last sample, but a sample that was taken
 * while the vCPU was blocked counts 0, and its CPU time is left to the vCPU's next one
 * that was not: it was used elsewhere, just before. Else a guest that does its work in
 * short bursts would seem to use most of its CPU time in its idle loop, where nearly
 * all of its samples are. Those that hit the bursts say where it was used.
 */

/*
 * All counts of a recording together are at most this: the rest is left out. So
 * no sum of them can overflow, not even that over all addresses of all chains
 * (RECORDING_MAX_DEPTH), whatever a recording says. As time it is 285 years.
 */
#define MEASURE_MOST ((uint64_t)1 << 53)

/* What reports can be restricted to, each a set of 1 << enum vcpu_state. Running
 * is what Linux and perf mean by it: on a CPU, or wanting one. */
enum measure_states {
	MEASURE_ALL_STATES = (1 << SUMMARY_STATES) - 1,
	MEASURE_RUNNING = 1 << VCPU_RUNNING | 1 << VCPU_RUNNABLE,
	MEASURE_RUNNABLE = 1 << VCPU_RUNNABLE,
	MEASURE_BLOCKED = 1 << VCPU_BLOCKED,
};

struct measure_vcpu {
	bool is_met;
	bool is_chosen; /* its last sample is, whatever the state */
	uint64_t last;	/* time of its last sample, ns */
	uint64_t left;	/* CPU time for its next sample that was not blocked, us */
};

/* Samples that count, and for how much. */
struct measure {
	enum measure_weight weight;
	enum measure_states states;
	const char *list;  /* of domains, see domain_in_list() */
	const bool *vcpus; /* by number, up to RECORDING_MAX_VCPU; NULL: all */
	uint64_t from,
		to; /* samples' times, ns, without @to itself; UINT64_MAX: no end */

	uint64_t whole;	  /* of all counts so far, those dropped included */
	uint64_t total;	  /* without them */
	uint64_t *counts; /* by sample of the last chunk */
	size_t capacity;
	struct tree vcpu_index;	  /* one root; the keys: domain and vCPU */
	struct measure_vcpu *met; /* by node of it */
	uint32_t vcpu_capacity;
};

/* For all vCPUs and times: @vcpus, @from and @to may then be set. -1 when memory is
 * short; measure_free() is due either way. */
int measure_init(struct measure *measure, enum measure_weight weight,
		 enum measure_states states, const char *list);
void measure_free(struct measure *measure);

/*
 * Sets counts[] for the samples of a chunk: 0 for those that are left out. The
 * chunk is part of @summary already. -1 when memory is short.
 */
int measure_batch(struct measure *measure, const struct summary *summary,
		  const struct samples_batch *batch);

/* Takes the chunk's sample of that index out again: it counts 0, and is part of
 * @whole only. */
void measure_drop(struct measure *measure, size_t sample);

/* The CPU time, in us, that was left to samples that never came: the vCPUs were not
 * met again but blocked. It is in no count. */
uint64_t measure_left(const struct measure *measure);

/* Counts are us, not samples. */
bool measure_is_time(const struct measure *measure);
/* What is counted, in words: "samples", "CPU time" or "time"; and as the name of a
 * number, its unit at the end. */
const char *measure_noun(const struct measure *measure);
const char *measure_name(const struct measure *measure);
/* Which vCPU states count, as in " while blocked"; "" for all. */
const char *measure_states_note(const struct measure *measure);

#endif

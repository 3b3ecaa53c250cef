/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_MEASURE_H
#define UNIPROF_REPORT_MODEL_MEASURE_H

#include <stdbool.h>

#include "base/tree.h"
#include "report/load/summary.h"

/* The weight of a sample. */
enum measure_weight {
	MEASURE_SAMPLES,  /* number of samples that the recorded one stands for */
	MEASURE_CPU_TIME, /* CPU time of its vCPU, us; see below */
	MEASURE_WALL, /* time since its vCPU's last sample, us; 0 for the first sample */
	MEASURE_WAIT, /* samples count 0; waits of threads by their lengths, us */
};

/*
 * CPU time is what the vCPU used since its last sample. But a sample of a blocked vCPU
 * counts 0, and its CPU time is added to the vCPU's next sample that is not blocked,
 * because it was used elsewhere, just before. Otherwise a guest that works in short
 * bursts would seem to use most of its CPU time in its idle loop, where nearly all of its
 * samples are. The samples that hit the bursts show where it was used.
 */

/*
 * The sum of all counts of a recording is limited to this; the rest is dropped. So no sum
 * can overflow, not even that over all addresses of all chains (RECORDING_MAX_DEPTH),
 * whatever the recording contains. As time it is 285 years.
 */
#define MEASURE_MOST ((uint64_t)1 << 53)

/* States that reports can be restricted to, each a set of 1 << enum vcpu_state. Busy is
 * what Linux and perf call running: on a CPU, or waiting for one. */
enum measure_states {
	MEASURE_ALL_STATES = (1 << SUMMARY_STATES) - 1,
	MEASURE_RUNNING = 1 << VCPU_RUNNING,
	MEASURE_RUNNABLE = 1 << VCPU_RUNNABLE,
	MEASURE_BUSY = MEASURE_RUNNING | MEASURE_RUNNABLE,
	MEASURE_BLOCKED = 1 << VCPU_BLOCKED,
	/* any state, but not in the guest's code: in the VMM, halted or in Xen */
	MEASURE_EXIT = 1 << SUMMARY_STATES,
};

/* The part of the address space that was sampled. */
enum measure_part {
	MEASURE_ALL_PARTS,
	MEASURE_KERNEL, /* domain_is_upper() */
	MEASURE_USER,
};

struct measure_vcpu {
	bool is_met;
	bool is_chosen; /* its last sample is selected, apart from the state */
	uint64_t last;	/* time of its last sample, ns */
	uint64_t left;	/* CPU time for its next sample that is not blocked, us */
};

/* The other weights of a sample, whether it counts or not, us. */
struct measure_times {
	uint64_t cpu_time; /* 0 if it is not recorded */
	uint64_t wall;
};

/* Which samples count, and their weights. */
struct measure {
	enum measure_weight weight;
	enum measure_states states;
	enum measure_part part;
	const char *list;  /* domains' names and ids, see domain_in_list(); NULL: all */
	const bool *vcpus; /* by number, up to RECORDING_MAX_VCPU; NULL: all */
	uint64_t from, to; /* sample times, ns, @to excluded; UINT64_MAX: no end */
	uint64_t since;	   /* waits count from then on: the recording's start, ns */
	uint64_t min_wait; /* waits that are shorter count 0, ns */
	bool no_idle;	   /* threads that wait for work count 0 */

	bool keeps_times; /* also sets times[]; can be set after measure_init() */

	const char *event; /* what samples' weights count; NULL or empty: samples */
	uint64_t whole;	   /* sum of all counts so far, with dropped samples */
	uint64_t total;	   /* sum of all counts so far, without dropped samples */
	double squares;	   /* sum of the squares of the counts in @whole */
	/* By sample of the last chunk: its weight, and whether it is selected by domain,
	 * vCPU and time, whatever its state */
	uint64_t *counts;
	bool *chosen;
	struct measure_times *times; /* set if keeps_times */
	size_t capacity;
	struct tree vcpu_index;	  /* one root; the keys: domain and vCPU */
	struct measure_vcpu *met; /* by node of vcpu_index */
	uint32_t vcpu_capacity;
};

/* Selects all vCPUs, times and addresses: @vcpus, @from, @to and @part can be set
 * afterwards. -1 if out of memory; measure_free() must be called either way. */
int measure_init(struct measure *measure, enum measure_weight weight,
		 enum measure_states states, const char *list);
void measure_free(struct measure *measure);

/*
 * Sets counts[] for the samples of a chunk; samples that are not selected count 0. The
 * chunk must already be in @summary. -1 if out of memory.
 */
int measure_batch(struct measure *measure, const struct summary *summary,
		  const struct samples_batch *batch);

/* Does the same for a chunk of waits, for MEASURE_WAIT: by the part of each wait that is
 * in the selected time. A wait that is not over counts 1 (report/model/open_waits.h). */
int measure_waits(struct measure *measure, const struct summary *summary,
		  const struct waits_batch *batch);

/* Shortens a wait to its part that is selected by time. It may end before it begins. */
void measure_clip(const struct measure *measure, uint64_t *from, uint64_t *to);

/* Returns the weight of a wait from @from to @to, ns. */
uint64_t measure_wait(const struct measure *measure, uint64_t from, uint64_t to);

/* Adds a count of no chunk to the sums, and returns what was added. */
uint64_t measure_add(struct measure *measure, uint64_t count);
/* Takes a count out of the sums; @is_dropped: it was dropped by measure_drop(). */
void measure_remove(struct measure *measure, uint64_t count, bool is_dropped);

/* Drops a sample of the chunk, by its index: it counts 0, and is part of @whole only. */
void measure_drop(struct measure *measure, size_t sample);

/* Takes back a sample of the chunk, by its index: it was not selected. */
void measure_take_back(struct measure *measure, size_t sample);

/* Returns the CPU time, in us, that is in no count, because the vCPUs were blocked in all
 * later samples. */
uint64_t measure_left(const struct measure *measure);

/* Whether counts are us, not samples. */
bool measure_is_time(const struct measure *measure);
/* Whether that is the recording's own weights, of another event than CPU time. */
bool measure_is_event(const struct measure *measure);

/* What is counted: as words, "samples" or an event's name, "CPU time", "time" or "waiting
 * time"; the same, but "vCPU time"; and as a field name that ends with the unit. */
const char *measure_noun(const struct measure *measure);
const char *measure_long_noun(const struct measure *measure);
const char *measure_name(const struct measure *measure);
/* The vCPU states that count, e.g. " while blocked"; "" for all. */
const char *measure_states_note(const struct measure *measure);

#endif

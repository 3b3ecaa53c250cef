/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_SUMMARY_H
#define UNIPROF_REPORT_LOAD_SUMMARY_H

#include <stdbool.h>

#include "base/tree.h"
#include "format/reader.h"
#include "format/recording.h"
#include "format/samples.h"
#include "format/waits.h"

/* States that are counted separately; states of later versions count as VCPU_UNKNOWN. */
/* The event of several recordings that do not count the same one. */
#define SUMMARY_MIXED_EVENTS "different-events"

#define SUMMARY_STATES (VCPU_BLOCKED + 1)

#define SUMMARY_RECENT 64

/* Maximum number of processes that a report tells apart. Their indexes are above all
 * domains' indexes. */
#define SUMMARY_PROCESSES     4096
#define SUMMARY_FIRST_PROCESS (RECORDING_MAX_DOMAIN + 1)

/* Sums of one vCPU of a domain. */
struct summary_vcpu {
	uint32_t domain, vcpu;
	uint64_t states[SUMMARY_STATES]; /* weights of its samples, by state */
	uint64_t cpu_time;		 /* us, since its first sample */
};

/* Everything about a recording except its call chains. */
struct summary {
	struct recording_info info; /* zeros if there was none */
	bool has_info;
	struct recording_end end; /* zeros if there was none */
	bool has_end;
	struct recording_domain **domains; /* by index; NULL where unknown */
	size_t domain_room;		   /* the highest index, plus 1 */
	size_t domain_capacity;		   /* elements allocated */
	size_t domain_count;
	size_t renewals; /* number of tables of more files that were taken */
	struct recording_domain **processes; /* from SUMMARY_FIRST_PROCESS on */
	size_t process_count;
	/* The programs that names in the recording are from */
	struct recording_program *programs;
	size_t program_count;

	uint64_t samples;   /* number of samples in the recording */
	uint64_t weight;    /* number of samples that the recorded ones stand for; reports
			       count these */
	uint64_t frameless; /* part of the weight: callers found without a frame */
	uint64_t captured;  /* part of the weight: from captured stacks */
	uint64_t first_time, last_time; /* first and last time of a sample, ns */
	uint64_t appended;		/* duration of other recordings, ns */
	struct summary_vcpu *vcpus;	/* in order of appearance */
	struct tree vcpu_index;		/* one root; keys: domain and vCPU */
	size_t vcpu_count, vcpu_room;
	uint64_t *rounds; /* by domain: for summary_rate() */
	size_t round_room;
	uint32_t recent[SUMMARY_RECENT]; /* by vCPU number modulo: index of the last vCPU
					    seen */
	bool lacks_cpu_time;		 /* some samples have no CPU time */
	unsigned int deepest;		 /* addresses in the longest chain */
	struct sampling_counts counts;
	struct waits_counts waits; /* sums; threads: the most; until: the last */
	uint64_t names;	   /* number of addresses' names in the recording itself */
	uint64_t mappings; /* number of mappings of processes */

	uint64_t bytes;	 /* read so far */
	uint64_t chunks; /* number of intact chunks */
	struct damage damage;
};

/* A summary starts as zeros. */
void summary_free(struct summary *summary);

/* Add a chunk. A chunk that repeats an earlier one changes nothing, but that a domain
 * gets the unwind table of a later chunk, if that is its first or is of more files. -1 if
 * out of memory. */
void summary_add_info(struct summary *summary, const struct recording_info *info);
int summary_add_domain(struct summary *summary, const struct recording_domain *domain);
int summary_add_program(struct summary *summary, const struct recording_program *program);
void summary_add_waits(struct summary *summary, const struct waits_batch *batch);
int summary_add_samples(struct summary *summary, const struct samples_batch *batch);

/* Adds the sums of @part, which started as zeros, over other samples of this recording.
 * -1 if out of memory. */
int summary_join(struct summary *summary, const struct summary *part);

/* Whether the @length bytes of @what are the domain's name, with or without the prefix
 * HOST/ of domains of several hosts, or its id in decimal. False for NULL, an unknown
 * domain. */
bool domain_is_called(const struct recording_domain *domain, const char *what,
		      size_t length);

/* Returns the domain with @index, or the one that stands for a process; NULL if unknown.
 * One thread may add processes and samples while another asks for a domain. */
const struct recording_domain *summary_domain(const struct summary *summary,
					      uint64_t index);

/* Adds a process of a domain, which must be known, and sets @index to its own. There must
 * be fewer than SUMMARY_PROCESSES. -1 if out of memory. */
int summary_add_process(struct summary *summary, uint32_t domain,
			const struct recording_process *process, uint32_t *index);

/* The index of a domain in the recordings: for a process, that of its domain. */
uint32_t summary_recorded(const struct summary *summary, uint32_t index);

/*
 * Adds the summary of another recording. Its domains were added already, with @base added
 * to their indexes. Where and how the recordings were made is kept as far as all agree;
 * the start and the end reason are the first recording's. -1 if out of memory.
 */
int summary_append(struct summary *summary, const struct summary *other, uint32_t base);

/* When the recording started, as far as known: CLOCK_MONOTONIC, ns. */
uint64_t summary_start(const struct summary *summary);

/* Duration of the recording and of all appended ones, as far as known, in ns. */
uint64_t summary_duration(const struct summary *summary);

/* Average number of rounds per second and domain; 0 if unknown. */
double summary_rate(const struct summary *summary);

/* The share of rounds that were missed, from 0 to 1; 0 if unknown. */
double summary_missed(const struct summary *summary);

/*
 * Sets @line to what could not be read of @name, a recording that was read to its end:
 * damage, missing samples, no end. False if it is complete.
 */
bool summary_damage(const struct summary *summary, const char *name, struct error *line);

#endif

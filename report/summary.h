/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_SUMMARY_H
#define UNIPROF_REPORT_SUMMARY_H

#include <stdbool.h>

#include "format/reader.h"
#include "format/recording.h"
#include "format/samples.h"
#include "report/tree.h"

/* States that are counted apart; later versions' count as VCPU_UNKNOWN. */
#define SUMMARY_STATES (VCPU_BLOCKED + 1)

#define SUMMARY_RECENT 64

/* What one vCPU of a domain amounts to. */
struct summary_vcpu {
	uint32_t domain, vcpu;
	uint64_t states[SUMMARY_STATES]; /* its samples, weighted */
	uint64_t cpu_time;		 /* us, since its first sample */
};

/* What a recording amounts to, apart from its call chains. */
struct summary {
	struct recording_info info; /* zeros when there was none */
	bool has_info;
	struct recording_end end; /* zeros when there was none */
	bool has_end;
	struct recording_domain **domains; /* by index; NULL where unknown */
	size_t domain_room;
	size_t domain_count;

	uint64_t samples;   /* in the file */
	uint64_t weight;    /* how many they stand for: what reports count */
	uint64_t frameless; /* of the weight: callers that were found without a frame */
	uint64_t first_time, last_time; /* of samples, ns */
	uint64_t appended;		/* how long other recordings took, ns */
	struct summary_vcpu *vcpus;	/* as they were met */
	struct tree vcpu_index;		/* one root; the keys: domain and vCPU */
	size_t vcpu_count, vcpu_room;
	uint32_t recent[SUMMARY_RECENT]; /* by vCPU modulo: which was met last */
	bool lacks_cpu_time;		 /* of some samples */
	unsigned int deepest;		 /* addresses in the longest chain */
	struct sampling_counts counts;
	uint64_t names; /* of places, in the recording itself */

	uint64_t bytes;	 /* read so far */
	uint64_t chunks; /* intact ones */
	struct damage damage;
};

/* A summary starts as zeros. */
void summary_free(struct summary *summary);

/* Add what a chunk says. Chunks that repeat an earlier one change nothing. -1
 * when memory is short. */
void summary_add_info(struct summary *summary, const struct recording_info *info);
int summary_add_domain(struct summary *summary, const struct recording_domain *domain);
int summary_add_samples(struct summary *summary, const struct samples_batch *batch);

/* Adds what was added of samples to @part, which is of the same recording and began as
 * zeros. -1 when memory is short. */
int summary_join(struct summary *summary, const struct summary *part);

/* The domain that samples name by @index, or NULL. */
const struct recording_domain *summary_domain(const struct summary *summary,
					      uint64_t index);

/*
 * Adds what the summary of another recording, whose domains are in it already, with
 * indexes that are higher by @base, amounts to. Where and how both were recorded is kept
 * where it is the same; the start and how it ended are the first recording's. -1 when
 * memory is short.
 */
int summary_append(struct summary *summary, const struct summary *other, uint32_t base);

/* When the recording began, as far as is known: CLOCK_MONOTONIC, ns. */
uint64_t summary_start(const struct summary *summary);

/* How long the recording, and those appended, took, as far as is known, in ns. */
uint64_t summary_duration(const struct summary *summary);

/*
 * Says in one line what could not be read of @name, a recording that was read to
 * its end: damage, samples that are missing, no end. False when all is there.
 */
bool summary_damage(const struct summary *summary, const char *name, struct error *line);

#endif

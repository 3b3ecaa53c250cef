/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_TARGET_H
#define UNIPROF_RECORD_TARGET_H

#include "record/sampler.h"

/* A guest to sample, and the resources for it. */
struct target {
	struct guest *guest;
	struct sampler *sampler;
	const struct program_table *table; /* to unwind by; NULL: none */
	bool may_find;			   /* by the code in its memory */
	bool captures;			   /* its stacks, to be unwound later */
};

/*
 * Prepares to sample a guest of @host, which a guard must watch; samples refer to it by
 * @index.
 * @vcpus lists the vCPUs to sample, such as "0,2-3"; NULL: all. @period is the requested
 * time between samples, in ns (sampler_new()). Pauses nothing. Returns 0; or -1, with
 * nothing held, if the guest can't be sampled, there is no such vCPU, or resources are
 * missing.
 */
int target_open(struct target *target, struct host *host, const struct guest_info *info,
		const char *vcpus, uint32_t index, uint64_t period, struct error *err);

/* Unwinds by @table, which may be NULL; see sampler_use(). */
void target_use(struct target *target, const struct program_table *table);

/* Unwinds by the code in its memory if frame pointers are missing; see sampler_find(). */
void target_find(struct target *target, struct examiner *examiner, unsigned int chains);

/* Captures stacks instead; see sampler_capture(). -1 as there. */
int target_capture(struct target *target, unsigned int bytes, struct error *err);

/* Releases the guest; may be called again, and on a zeroed target. */
void target_close(struct target *target);

/* The description for the recording; to be called after a round was taken. */
void target_describe(const struct target *target, struct recording_domain *description);

#endif

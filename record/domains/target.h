/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_DOMAINS_TARGET_H
#define UNIPROF_RECORD_DOMAINS_TARGET_H

#include "record/sampler.h"

/* A guest to sample, and the resources to sample it. */
struct target {
	struct guest *guest;
	struct sampler *sampler;
	struct sampling sampling; /* how the guest is sampled */
};

/*
 * Prepares to sample a guest of @host, which a guard must watch, as @sampling says.
 * @vcpus lists the vCPUs to sample, such as "0,2-3"; NULL: all. Pauses nothing. Returns
 * 0; or -1, with nothing held, if the guest can't be sampled, there is no such vCPU, or
 * resources are missing.
 */
int target_open(struct target *target, struct host *host, const struct guest_info *info,
		const char *vcpus, const struct sampling *sampling, struct error *err);

/* Releases the guest; @target may be all 0. */
void target_close(struct target *target);

/* Returns the kind of CPU in the last round; CPU_UNKNOWN if no registers were captured.
 */
enum cpu_kind target_kind(const struct target *target);

/* Returns whether stacks are captured, to be unwound by reports: as wanted, unless the
 * guest's CPU is known to have no unwind tables. */
bool target_captures_stacks(const struct target *target);

/* Describes the domain for the recording, with its table of programs once that is used.
 * Must be called after a round was taken. @is_first: no registers were captured in an
 * earlier round. */
void target_describe(const struct target *target, bool is_first,
		     struct recording_domain *description);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_TARGET_H
#define UNIPROF_RECORD_TARGET_H

#include "record/guard.h"
#include "record/sampler.h"

/* A domain to sample, and all that it takes to do so. */
struct target {
	struct xen_domain domain;
	struct capture *capture;
	struct guard *guard;
	struct pages *pages;
	struct sampler *sampler;
};

/*
 * Gets everything for sampling @domain, whose samples will name it by @index.
 * @vcpus lists those to sample, as in "0,2-3"; NULL: all. They are wanted every @period
 * ns (sampler_new()). Pauses nothing. 0; or -1, with nothing held, when the domain is
 * none that can be sampled, there is no such vCPU, or something could not be got.
 */
int target_open(struct target *target, struct xen *xen, const struct xen_domain *domain,
		const char *vcpus, uint32_t index, uint64_t period, struct error *err);

/* Lets go of the domain; may be called again, and on a zeroed one. */
void target_close(struct target *target);

/* For the recording: what is known after a round was taken. */
void target_describe(const struct target *target, struct recording_domain *description);

#endif

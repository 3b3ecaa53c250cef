/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_SAMPLER_H
#define UNIPROF_RECORD_SAMPLER_H

#include "format/recording.h"
#include "xen/capture.h"
#include "xen/pages.h"

/*
 * Takes rounds of samples: one of each vCPU of a domain, all at the same time.
 * While the domain is paused, there are reads of mapped memory and nothing
 * else; what was missing is mapped afterwards and the round taken again.
 */
struct sampler;

/* The most pauses that one round may need. */
#define ROUND_PAUSES 4

enum round_outcome {
	ROUND_TAKEN,
	ROUND_PAUSED, /* skipped: someone else holds the domain paused */
	ROUND_SHUT,   /* the domain has shut down, and does not run any more */
	ROUND_GONE,   /* it is not there any more */
};

struct round {
	enum round_outcome outcome;
	uint64_t time;		      /* of the samples: ns, monotonic */
	uint64_t pause[ROUND_PAUSES]; /* each pause's length in ns */
	unsigned int pauses;
	struct sample *sample; /* the sampler's; valid until the next round */
	unsigned int samples;
};

/*
 * Samples @capture's domain with @pages, which stay the caller's; samples name the
 * domain by @index. They are wanted every @period ns, of which their CPU times have
 * tenths: that is finer than what one sample can tell, and compresses well. All memory is
 * got here. NULL, and why in @err, on failure.
 */
struct sampler *sampler_new(struct capture *capture, struct pages *pages, uint32_t index,
			    uint64_t period, struct error *err);
void sampler_free(struct sampler *sampler);

/* The index that it was given. */
uint32_t sampler_index(const struct sampler *sampler);

/* One round, of samples with this @weight: 0, or -1 with the domain not paused by
 * it, unless Xen refuses to let it run again. */
int sampler_round(struct sampler *sampler, uint32_t weight, struct round *round,
		  struct error *err);

/* The same for a domain that does not run, being paused or shut down: it pauses
 * nothing, and only ROUND_TAKEN and ROUND_GONE come out of it. */
int sampler_look(struct sampler *sampler, struct round *round, struct error *err);

#endif

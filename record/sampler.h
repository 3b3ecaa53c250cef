/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_SAMPLER_H
#define UNIPROF_RECORD_SAMPLER_H

#include "guest/guest.h"
#include "record/learning/learning.h"
#include "record/sampling.h"

/*
 * Takes rounds of samples: one of each vCPU of a guest, all at the same time. While the
 * guest is paused, only its mapped pages are read. Missing pages are mapped afterwards,
 * and the round is taken again.
 */
struct sampler;

/* Samples @guest, which must outlive the sampler, as @sampling says. All memory that
 * pauses need is allocated here. NULL with the reason in @err on failure. */
struct sampler *sampler_new(struct guest *guest, const struct sampling *sampling,
			    struct error *err);
void sampler_free(struct sampler *sampler);

/* Returns what is known of the guest from the rounds so far. */
const struct learning *sampler_learning(const struct sampler *sampler);

/* Returns what the sampler has learned, to add to between rounds. */
struct learning *sampler_learner(struct sampler *sampler);

/* See learning_take_kallsyms(). */
struct kallsyms *sampler_take_kallsyms(struct sampler *sampler);

/* As learning_take_mappings() and learning_forget_mappings(). */
struct process_mappings *sampler_take_mappings(struct sampler *sampler);
void sampler_forget_mappings(struct sampler *sampler);

/* Drops the CPU time that the vCPUs have used since their last samples: the next samples
 * have 0, like the first. */
void sampler_forget_cpu_times(struct sampler *sampler);

/* Takes one round of samples with this @weight: 0, or -1 on error. The guest is not left
 * paused, unless the hypervisor refuses to resume it. */
int sampler_round(struct sampler *sampler, uint32_t weight, struct round *round,
		  struct error *err);

/* Takes a round of a guest that is paused or shut down: pauses nothing. The outcome is
 * ROUND_TAKEN or ROUND_GONE. */
int sampler_look(struct sampler *sampler, struct round *round, struct error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_FILTER_H
#define UNIPROF_REPORT_MODEL_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/model/frames.h"
#include "report/model/measure.h"
#include "report/model/stacks.h"

/*
 * Selects samples by the functions of their call chains, and cuts the chains. Selection
 * by the sample itself (time, vCPU, state, domain) is done earlier, by the measure.
 */
struct filter_rules {
	const regex_t *parent; /* a caller must match; NULL: no condition */
	const regex_t
		*symbol;    /* any function of the chain must match; NULL: no condition */
	uint32_t max_depth; /* innermost addresses to keep; 0: all */
	bool no_interrupts; /* handlers of interrupts are left out, before chains are cut
			     */
};

/* The name for functions without a symbol, in outputs that don't show addresses, and for
 * the rules. */
#define FILTER_UNNAMED "[unresolved]"

struct filter;

/* The caller keeps the rules' expressions and @frames. NULL if out of memory. */
struct filter *filter_new(const struct filter_rules *rules, struct frames *frames);
void filter_free(struct filter *filter);

/*
 * Applies the rules to the samples of a chunk, between stacks_find() and stacks_count():
 * drops samples that don't pass, by their whole chains, and cuts the chains of the
 * others. -1 if out of memory.
 */
int filter_batch(struct filter *filter, struct stacks *stacks, struct measure *measure,
		 size_t count);

/* Takes back the samples of a chunk that were in the guest's code: those without a
 * reason why it was left that are not in a hypercall. -1 if out of memory. */
int filter_exits(struct filter *filter, const struct stacks *stacks,
		 struct measure *measure, const struct samples_batch *batch);

/* Whether a function matches the rules' symbol, or there is no such rule: 1 or 0; -1 if
 * out of memory. */
int filter_shows(struct filter *filter, uint32_t function);

#endif

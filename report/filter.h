/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_FILTER_H
#define UNIPROF_REPORT_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/frames.h"
#include "report/measure.h"
#include "report/stacks.h"

/*
 * Which samples count by the functions of their call chains, and how much of the chains
 * is kept. What samples are of themselves (time, vCPU, state, domain) is the measure's
 * to judge, before.
 */
struct filter_rules {
	const regex_t *parent; /* a caller has to match; NULL: none has to */
	const regex_t *symbol; /* any function of the chain has to */
	uint32_t max_depth;    /* innermost addresses to keep; 0: all */
};

/* What functions without a name are called, in outputs that don't show addresses, and
 * for the rules. */
#define FILTER_UNNAMED "[unresolved]"

struct filter;

/* The rules' expressions and @frames stay the caller's. NULL when memory is short. */
struct filter *filter_new(const struct filter_rules *rules, struct frames *frames);
void filter_free(struct filter *filter);

/*
 * For the samples of a chunk, between stacks_find() and stacks_count(): drops those that
 * the rules leave out, and cuts the chains of the others. The rules see whole chains. -1
 * when memory is short.
 */
int filter_batch(struct filter *filter, struct stacks *stacks, struct measure *measure,
		 size_t count);

/* Whether a function is one that the rules' symbol matches; true without such a rule.
 * False when memory is short. */
bool filter_shows(struct filter *filter, uint32_t function);

#endif

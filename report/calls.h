/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_CALLS_H
#define UNIPROF_REPORT_CALLS_H

#include <stdbool.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/frames.h"
#include "report/stacks.h"

/*
 * The call chains of a recording by function: a tree from the outermost callers
 * down, in which chains of different addresses but the same names are one. First of
 * all come the domains, those of one name being one.
 */
struct calls;

/* Made when all samples are in @stacks. NULL when memory is short. */
struct calls *calls_new(const struct stacks *stacks, struct frames *frames);
void calls_free(struct calls *calls);

/* The same, or @inverted: from the sampled functions down to their callers, as if these
 * had been called. */
struct calls *calls_of(const struct stacks *stacks, struct frames *frames, bool inverted);

/* Goes through the tree. Functions are frames' numbers. */
struct calls_visitor {
	/* Samples that count for @count, not 0, have just the functions entered so far as
	 * their callers, and @function as the sampled one. */
	void (*self)(void *arg, uint32_t function, uint64_t count);
	/* All calls up to the next of these are of the domain that @function
	 * stands for; it is none of the callers. */
	void (*domain)(void *arg, uint32_t function);
	/* Up to the matching leave(), @function is one more of the callers, those
	 * of @count samples. */
	void (*enter)(void *arg, uint32_t function, uint64_t count);
	void (*leave)(void *arg, uint32_t function);
	void *arg;
};

/*
 * Calls self() for each distinct chain, in the order (strcmp) of the domain's and
 * the chains' names joined by ';', outermost first.
 */
void calls_walk(const struct calls *calls, const struct calls_visitor *visitor);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_CALLS_H
#define UNIPROF_REPORT_MODEL_CALLS_H

#include <stdbool.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/model/frames.h"
#include "report/model/stacks.h"

/*
 * The call chains of a recording by function: a tree from the outermost callers down, in
 * which chains with the same names are merged even if their addresses differ. The top
 * level is the domains; those of the same name are merged.
 */
struct calls;

/* Builds the tree, once all samples are in @stacks. NULL if out of memory. */
struct calls *calls_new(const struct stacks *stacks, struct frames *frames);
void calls_free(struct calls *calls);

/* Like calls_new() or, if @inverted, from the sampled functions down to their callers, as
 * if the functions had called their callers. */
struct calls *calls_of(const struct stacks *stacks, struct frames *frames, bool inverted);

/* Like calls_new(), but chains are merged only if they agree in all source places: the
 * visitor gets places (frames_place()) instead of functions. */
struct calls *calls_by_place(const struct stacks *stacks, struct frames *frames);

/* Visits the tree. Functions are numbers from frames.h. */
struct calls_visitor {
	/* Samples with a weight of @count, not 0, have exactly the functions entered so
	 * far as their callers, and @function as the sampled one. */
	void (*self)(void *arg, uint32_t function, uint64_t count);
	/* All calls until the next domain() are of the domain that @function represents,
	 * which is not one of the callers. */
	void (*domain)(void *arg, uint32_t function);
	/* Up to the matching leave(), @function is an additional caller, of @count
	 * samples. */
	void (*enter)(void *arg, uint32_t function, uint64_t count);
	void (*leave)(void *arg, uint32_t function);
	void *arg;
};

/*
 * Calls self() for each distinct chain, ordered (strcmp) by the names of the domain and
 * the chain joined by ';', outermost first.
 */
void calls_walk(const struct calls *calls, const struct calls_visitor *visitor);

#endif

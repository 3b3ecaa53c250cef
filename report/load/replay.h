/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_REPLAY_H
#define UNIPROF_REPORT_LOAD_REPLAY_H

#include "base/error.h"
#include "report/load/summary.h"

/* Turns the captured stacks in a recording into call chains (unwind/stack/stack.h), by
 * unwind tables of the ELF files of a report. */
struct replay;

/* @debug_directory: where debug files are. NULL if out of memory. */
struct replay *replay_new(const char *debug_directory);
void replay_free(struct replay *replay);

/* Adds the file of @spec, PATH[@OFFSET][,domain=NAME], which was accepted as a symbol
 * file, before any stack is unwound. A file that has nothing to unwind by, or is for one
 * process, is not used. Files are read when the first stack is unwound. -1 if out of
 * memory. */
int replay_add(struct replay *replay, const char *spec);

/*
 * Replaces the captured stacks of @batch, which was just decoded, by chains. Its domains
 * are described in @summary; stacks of other domains have no callers. The work is
 * bounded: in chunks larger than any recorder writes, further stacks have no callers.
 * Several threads may call this function, each for a batch of its own; the result does
 * not depend on other batches. -1 if out of memory.
 */
int replay_batch(struct replay *replay, const struct summary *summary,
		 struct samples_batch *batch);

#endif

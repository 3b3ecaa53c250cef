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
/* Makes one that does not unwind: a chain has the sampled address and, as its callers,
 * the words of the stack that point to code, each of which is a return address or was
 * one. */
struct replay *replay_new_words(void);
void replay_free(struct replay *replay);

/* Adds the file of @spec, PATH[@OFFSET][,domain=NAME], which was accepted as a symbol
 * file, before any stack is unwound. A file that has nothing to unwind by, or is for one
 * process, is not used. Files are read when the first stack is unwound. -1 if out of
 * memory. */
int replay_add(struct replay *replay, const char *spec);

/* Forgets where files are, and sets that the domain with this index in the recording has
 * the file at @path @shift bytes higher than it says; sums wrap around. It holds for the
 * address space @space or, if that is 0, for all for which nothing else is set. A file
 * that is not moved is where it says. Both are for the time before any stack of a
 * recording is unwound. At most WAYS_MOVES moves are taken (report/load/ways.h), because
 * each may need a table of its own. -1 if out of memory. */
void replay_forget_moves(struct replay *replay);
int replay_move(struct replay *replay, const char *path, uint32_t domain, uint64_t space,
		uint64_t shift);

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

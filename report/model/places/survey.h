/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_PLACES_SURVEY_H
#define UNIPROF_REPORT_MODEL_PLACES_SURVEY_H

#include "report/load/replay.h"
#include "report/load/summary.h"
#include "report/model/sources.h"

/*
 * Finds the places of symbol files, by the first samples of a recording: each file with
 * code and without a given offset is where the return addresses of an address space put
 * it (symbols/elf/vote.h), if it is not where it says; or, if they are too few, where the
 * recorder has found it.
 */
struct survey;

/* Whether some file may have to be found. */
bool survey_is_needed(const struct sources *sources);

/* @base is added to the recording's domain indexes. NULL if out of memory. */
struct survey *survey_new(struct sources *sources, uint32_t base);
void survey_free(struct survey *survey);

/* Takes the return addresses of the batch, whose domain indexes are the recording's. -1
 * if out of memory. */
int survey_add(struct survey *survey, const struct samples_batch *batch);

/* Whether enough samples were seen. */
bool survey_is_done(const struct survey *survey);

/* Adds the places of the files, which are for domains of @summary, to the sources. May be
 * called again after more samples. -1 if out of memory. */
int survey_vote(const struct survey *survey, const struct summary *summary);

/* Sets where captured stacks of the recording have the files. -1 if out of memory. */
int survey_move(const struct survey *survey, const struct summary *summary,
		struct replay *replay);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_CHECKS_MATCH_H
#define UNIPROF_REPORT_MODEL_CHECKS_MATCH_H

#include "report/load/summary.h"
#include "report/model/notes/notes.h"
#include "report/model/sources.h"

/* Whether symbol files are of what ran, by what they and the recordings say. */

/* Checks that the domain's symbol files are for the CPU it ran on: -1 with @err set if
 * not. For unusual combinations only a note is added. */
int match_machines(const struct sources *sources, const struct recording_domain *domain,
		   struct notes *notes, struct error *err);

/*
 * Compares the build-ids of symbol files with the build-ids in the recordings: of the
 * programs that stored names are from, and of the files that a domain was recorded with.
 * Adds a warning for each file that is another build.
 */
void match_builds(const struct sources *sources, const struct summary *summary,
		  struct notes *notes);

#endif

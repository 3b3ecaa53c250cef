/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_CHECKS_BUILDS_H
#define UNIPROF_REPORT_MODEL_CHECKS_BUILDS_H

#include "report/load/summary.h"
#include "report/model/sources.h"

/*
 * Compares the build-ids of symbol files with those that the recordings have: of the
 * programs that names in it are from, and of the files that a domain was recorded with.
 * Calls @warn_of with a line for each file that is another build.
 */
void builds_check(const struct sources *sources, const struct summary *summary,
		  void (*warn_of)(void *arg, const struct error *line), void *arg);

#endif

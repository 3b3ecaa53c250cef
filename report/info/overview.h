/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_INFO_OVERVIEW_H
#define UNIPROF_REPORT_INFO_OVERVIEW_H

#include <stdio.h>

#include "report/load/summary.h"
#include "report/model/checks/ends.h"
#include "report/model/processes.h"
#include "report/model/stacks.h"

/*
 * Writes a human-readable description of a whole recording. @name is the file's name;
 * @ends
 * are those of the @stacks (ends_count()), and @processes have counted the samples. @all
 * adds details for developers, and all processes. -1 if out of memory.
 */
int overview_write(FILE *out, const char *name, const struct summary *summary,
		   const struct stacks *stacks, const uint64_t *ends,
		   const struct processes *processes, bool all);

/* Writes, under @title, how many links between callers and callees were confirmed:
 * @counts by enum program_link. */
void overview_write_links(FILE *out, const char *title, const uint64_t *counts);

#endif

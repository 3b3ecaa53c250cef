/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_OVERVIEW_H
#define UNIPROF_REPORT_OVERVIEW_H

#include <stdio.h>

#include "report/stacks.h"
#include "report/summary.h"

/*
 * Writes what there is to know of a whole recording, without names: for people.
 * @name is the file's. With @all also what is of use to its makers only. -1 when
 * memory is short.
 */
int overview_write(FILE *out, const char *name, const struct summary *summary,
		   const struct stacks *stacks, bool all);

#endif

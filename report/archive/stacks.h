/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_ARCHIVE_STACKS_H
#define UNIPROF_REPORT_ARCHIVE_STACKS_H

#include "report/load/ahead.h"

/* Replaces the payload of a chunk of samples, whose captured stacks were unwound
 * (replay_batch()), by one that has their chains. -1 if out of memory. */
int archive_stacks(struct ahead_chunk *chunk);

#endif

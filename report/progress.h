/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_PROGRESS_H
#define UNIPROF_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * One line on a terminal that says how far long work is: from its second second
 * on, once a second, and wiped when the work is done.
 */
struct progress {
	FILE *to;	/* NULL: say nothing */
	uint64_t whole; /* bytes in all; 0 when that is not known */
	uint64_t next;	/* when to say something, ns */
	bool shown;
};

void progress_start(struct progress *progress, FILE *to, uint64_t whole);
void progress_update(struct progress *progress, uint64_t done);
void progress_end(struct progress *progress);

#endif

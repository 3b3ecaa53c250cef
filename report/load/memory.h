/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_MEMORY_H
#define UNIPROF_REPORT_LOAD_MEMORY_H

#include <stdint.h>

/*
 * A limit on the memory for reading and reporting a recording, which depends on its size:
 * a malicious one fails with "out of memory" before the machine swaps. What the process
 * uses at the start is not counted.
 */
struct memory_bound {
	uint64_t start; /* bytes the process used; 0: unknown, so there is no limit */
	uint64_t bytes; /* size of the recording that the limit is for */
};

/* Limits what is allocated from now on to the needs of a recording of @bytes, plus @extra
 * bytes. */
void memory_bound_begin(struct memory_bound *bound, uint64_t bytes, uint64_t extra);

/* Raises the limit to what a recording of @bytes needs, if that is more. */
void memory_bound_raise(struct memory_bound *bound, uint64_t bytes);

/* Lets the programs that this process starts use as much memory as it could at first. */
void memory_unbound(void);

#endif

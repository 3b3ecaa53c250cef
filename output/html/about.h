/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_HTML_ABOUT_H
#define UNIPROF_OUTPUT_HTML_ABOUT_H

#include "output/report.h"

/* The functions of a page, in the order of their first node. */
struct page_functions {
	uint32_t *list;	 /* numbers of frames.h */
	uint32_t *index; /* by number of frames.h: index in the list plus 1; 0: none */
	uint32_t count, room;
};

/* The threads of a page, in the order of their first sample. */
struct page_threads {
	const struct tree *keys;   /* one root; keys: domain's index << 32 | vCPU */
	const uint32_t *recording; /* by node of keys: index of its recording */
};

/*
 * Writes the part "about" of a page: all names, and where and how the recording was made.
 * @origin is the page's time 0, us, if there is one recording. -1 if out of memory.
 */
int about_write(const struct report *report, uint64_t origin,
		const struct page_threads *threads,
		const struct page_functions *functions, FILE *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_HTML_ABOUT_H
#define UNIPROF_OUTPUT_HTML_ABOUT_H

#include "output/markdown/threads.h"

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

/* What a page's samples refer to. */
struct page_lists {
	uint64_t origin; /* time 0 of the first recording, us */
	struct page_threads threads;
	struct page_functions functions;
	const struct wait_threads *wait_threads;
	const struct tree *exits; /* one root; keys: exits, in the order of samples */
};

/* Writes the part "about" of a page: all names, and where and how the recording was made.
 * -1 if out of memory. */
int about_write(const struct report *report, const struct page_lists *lists, FILE *out);

#endif

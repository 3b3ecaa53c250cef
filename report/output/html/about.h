/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_OUTPUT_HTML_ABOUT_H
#define UNIPROF_REPORT_OUTPUT_HTML_ABOUT_H

#include "report/output/report.h"

/* The functions of a page, in the order of their first node. */
struct page_functions {
	uint32_t *list;	 /* numbers of frames.h */
	uint32_t *index; /* by number of frames.h: index in the list plus 1; 0: none */
	uint32_t count, room;
};

/*
 * Writes the part "about" of a page: all names, and where and how the recording was made.
 * @origin is the page's time 0, us; @threads has domain << 32 | vCPU as keys. -1 if out
 * of memory.
 */
int about_write(const struct report *report, uint64_t origin, const struct tree *threads,
		const struct page_functions *functions, FILE *out);

#endif

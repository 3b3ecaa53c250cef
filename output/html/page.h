/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_HTML_PAGE_H
#define UNIPROF_OUTPUT_HTML_PAGE_H

#include <stdio.h>

/* The parts of a page that are the same in all: its data comes between them. The files
 * are made by the script "assemble". */
void page_begin(FILE *out);
void page_end(FILE *out);

#endif

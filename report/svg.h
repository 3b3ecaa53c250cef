/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_SVG_H
#define UNIPROF_REPORT_SVG_H

#include "report/output.h"

/*
 * What the pictures share. Each is one SVG 1.1 document that needs nothing else.
 * Texts from recordings and symbol files stand in elements only, put there by
 * svg_text(): never in attributes, styles or scripts.
 */

#define SVG_WIDTH  1200
#define SVG_MARGIN 10

/*
 * Begins the document: what kind of picture it is, and of what, and the @style sheet,
 * which is added to that of all. The document is to be ended with "</svg>\n".
 */
void svg_begin(const struct report *report, const char *kind, unsigned int height,
	       const char *style);

/* The heading's lines below that are numbered from 0. With one it ends above SVG_HEAD. */
#define SVG_HEAD 52
#define SVG_LINE 18

/* Writes one of them: the @label, and what is counted of which time. */
void svg_recorded(const struct report *report, const char *label, unsigned int line);
/* The same in parts. */
void svg_line_begin(FILE *out, unsigned int line);
void svg_line_end(FILE *out);

/*
 * Writes the first @most characters of @text as the content of an element, and "…" for
 * what is left out. What XML can't hold becomes U+FFFD byte by byte.
 */
void svg_text(FILE *out, const char *text, size_t most);

/* Writes a count with its unit: "1 sample", "3 samples", "20 us". */
void svg_count(FILE *out, const struct measure *measure, uint64_t count);

#endif

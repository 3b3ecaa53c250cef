/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_WRITE_SVG_H
#define UNIPROF_OUTPUT_WRITE_SVG_H

#include <stddef.h>
#include <stdio.h>

/*
 * Shared by all pictures. Each is one self-contained SVG 1.1 document. Text from
 * recordings and symbol files is written by svg_text(), as element content only: never in
 * attributes, styles or scripts.
 */

#define SVG_WIDTH  1200
#define SVG_MARGIN 10

/*
 * Starts the document: its @title, and a style sheet in addition to the common one. The
 * caller ends it with "</svg>\n".
 */
void svg_begin(FILE *out, const char *title, unsigned int height, const char *style);

/* The heading's lines below the title are numbered from 0. With one line it ends above
 * SVG_HEAD. */
#define SVG_HEAD 52
#define SVG_LINE 18

/* The output between these two calls is the content of one line. */
void svg_line_begin(FILE *out, unsigned int line);
void svg_line_end(FILE *out);

/*
 * Writes the first @most characters of @text as the content of an element, and "…" if
 * there are more. Bytes that XML can't represent become U+FFFD, one each.
 */
void svg_text(FILE *out, const char *text, size_t most);

#endif

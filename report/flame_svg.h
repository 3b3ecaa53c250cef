/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_FLAME_SVG_H
#define UNIPROF_REPORT_FLAME_SVG_H

#include "report/output.h"

/* A flame graph as a picture, whatever its frames' colours stand for. */

struct flame_colour {
	const char *fill;  /* of CSS; black must be legible on it */
	const char *label; /* for the legend; NULL: another shade of the one before */
};

struct flame_frame {
	const char *name;
	uint64_t count;	     /* callees included; all sums are below 2^53 */
	uint32_t parent;     /* a lower number; that of frame 0, the root, is 0 */
	unsigned int colour; /* its number */
};

struct flame_graph {
	const char *kind;		  /* for the heading */
	const struct flame_frame *frames; /* callees are drawn in this order */
	uint32_t frame_count;
	const struct flame_colour *colours;
	unsigned int colour_count;

	/* NULL, or what is written in place of what is counted, and of what: @lines lines
	 * of the heading; and of a frame's count and part of all, which stand behind its
	 * name in parentheses and have none themselves. */
	void (*put_lines)(const void *arg);
	void (*put_numbers)(const void *arg, uint32_t frame);
	const void *arg;
	unsigned int lines;
};

/* Writes the SVG. -1 when memory is short. */
int flame_svg_write(const struct report *report, const struct flame_graph *graph);

#endif

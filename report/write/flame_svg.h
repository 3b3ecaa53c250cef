/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_WRITE_FLAME_SVG_H
#define UNIPROF_REPORT_WRITE_FLAME_SVG_H

#include <stdint.h>
#include <stdio.h>

/* Drawing a flame graph, independent of the meaning of its colours. */

struct flame_colour {
	const char *fill;  /* CSS colour; black must be legible on it */
	const char *label; /* for the legend; NULL: another shade of the previous one */
};

struct flame_frame {
	const char *name;
	uint64_t count;	     /* callees included; all sums are below 2^53 */
	uint32_t parent;     /* its number is lower; that of frame 0, the root, is 0 */
	unsigned int colour; /* its number */
};

struct flame_graph {
	const char *kind, *of;		  /* for the heading: see svg_begin() */
	const struct flame_frame *frames; /* callees are drawn in this order */
	uint32_t frame_count;
	const struct flame_colour *colours;
	unsigned int colour_count;

	/* Write @lines lines of the heading, and a frame's count and share, which follow
	 * its name in parentheses and must not contain any. */
	void (*put_lines)(const void *arg);
	void (*put_numbers)(const void *arg, uint32_t frame);
	const void *arg;
	unsigned int lines;
};

/* Writes the SVG to @out, which keeps write errors. -1 if out of memory. */
int flame_svg_write(FILE *out, const struct flame_graph *graph);

#endif

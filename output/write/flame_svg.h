/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_WRITE_FLAME_SVG_H
#define UNIPROF_OUTPUT_WRITE_FLAME_SVG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Drawing a flame graph, independent of the meaning of its colours. */

struct flame_colour {
	const char *fill;  /* CSS colour; black must be legible on it */
	const char *label; /* for the legend; NULL: another shade of the colour before */
};

struct flame_frame {
	const char *name;
	uint64_t count;	 /* callees included; all sums are below 2^53 */
	uint32_t parent; /* number of the caller, lower than the frame's; 0 for frame 0,
			    the root */
	unsigned int colour; /* index in the graph's colours */
};

struct flame_graph {
	const char *title;
	const struct flame_frame *frames; /* callees are drawn in this order */
	uint32_t frame_count;
	const struct flame_colour *colours;
	unsigned int colour_count;
	unsigned int lines; /* lines of the heading, below its title */
};

/*
 * Begins the SVG on @out, which keeps write errors. The caller then writes the lines of
 * the heading (svg_line_begin()), and calls flame_svg_next() until there are no more
 * frames. NULL if out of memory.
 */
struct flame_svg;
struct flame_svg *flame_svg_begin(FILE *out, const struct flame_graph *graph);

/*
 * Begins the next frame, and sets *@frame to its number: the caller then writes its count
 * and share in one line, which follow its name in parentheses and must not contain any.
 * First come the frames that are drawn, then those that are only kept for zoom and
 * search. False after the last frame.
 */
bool flame_svg_next(struct flame_svg *svg, uint32_t *frame);

/* Ends the SVG. -1 if out of memory. */
int flame_svg_end(struct flame_svg *svg);

#endif

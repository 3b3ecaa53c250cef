/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_TIMELINE_SVG_H
#define UNIPROF_OUTPUT_TIMELINE_SVG_H

#include "output/output.h"

/* Heat maps of vCPUs over time, as a picture. The limits keep it below 6 MB. */

#define TIMELINE_PANELS	 64    /* maximum number of vCPUs with a map */
#define TIMELINE_COLUMNS 360   /* maximum for a map: 3 pixels each */
#define TIMELINE_CELLS	 80000 /* maximum for all maps together */

struct timeline_cell {
	uint64_t shown; /* weight shown by the colour, samples or us */
	uint64_t all;
};

struct timeline_panel {
	const char *domain; /* the domain's name, clean */
	uint32_t vcpu;
	struct timeline_cell *cells; /* TIMELINE_COLUMNS * rows, in the order of time */
};

struct timeline_grid {
	uint64_t start;	      /* time of the first cell, ns */
	uint64_t seconds;     /* width of a column: a timeline_next_step() */
	unsigned int rows;    /* cells of a column; a divisor of 10^9 */
	uint32_t columns;     /* columns in use; at least 1 */
	uint32_t panel_count; /* panels that have cells */
	uint32_t shown_panels;
	uint64_t left_out; /* weight of the vCPUs without a panel */
	struct timeline_panel panels[TIMELINE_PANELS];
};

/* Returns the next larger step of a time scale, a multiple of @seconds, which is also a
 * step. The first step is 1. */
uint64_t timeline_next_step(uint64_t seconds);

/* The vCPU states whose samples are shown: 1 << enum vcpu_state. */
enum measure_states timeline_states(const struct measure *measure);

/* Writes the SVG, after sorting the shown panels. */
void timeline_svg_write(const struct report *report, struct timeline_grid *grid);

#endif

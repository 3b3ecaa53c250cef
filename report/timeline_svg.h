/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_TIMELINE_SVG_H
#define UNIPROF_REPORT_TIMELINE_SVG_H

#include "report/output.h"

/* Heat maps of vCPUs over time, as a picture. The limits keep it below 6 MB. */

#define TIMELINE_PANELS	 64    /* most vCPUs that have a map */
#define TIMELINE_COLUMNS 360   /* most of a map: 3 pixels each */
#define TIMELINE_CELLS	 80000 /* most of all maps together */

struct timeline_cell {
	uint64_t shown; /* of what the colour tells, samples or us */
	uint64_t all;
};

struct timeline_panel {
	const char *domain; /* its name, clean */
	uint32_t vcpu;
	struct timeline_cell *cells; /* TIMELINE_COLUMNS * rows, in the order of time */
};

struct timeline_grid {
	uint64_t start;	      /* ns, of the first cell */
	uint64_t seconds;     /* that a column is wide: a timeline_next_step() */
	unsigned int rows;    /* cells of a column; a divisor of 10^9 */
	uint32_t columns;     /* in use; at least 1 */
	uint32_t panel_count; /* panels that have cells */
	uint32_t shown_panels;
	uint64_t left_out; /* what counts for vCPUs without a panel */
	struct timeline_panel panels[TIMELINE_PANELS];
};

/* The next longer time that people count in; a multiple of @seconds, which is one of
 * them too. The first is 1. */
uint64_t timeline_next_step(uint64_t seconds);

/* Samples of which vCPU states are shown: 1 << enum vcpu_state. */
enum measure_states timeline_states(const struct measure *measure);

/* Writes the SVG, after sorting the shown panels. */
void timeline_svg_write(const struct report *report, struct timeline_grid *grid);

#endif

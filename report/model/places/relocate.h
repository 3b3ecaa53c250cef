/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_PLACES_RELOCATE_H
#define UNIPROF_REPORT_MODEL_PLACES_RELOCATE_H

#include "format/samples.h"
#include "report/load/mappings.h"

/* Replaces the addresses of code that processes have from files by places in these files,
 * which are equal in all processes. Starts as zeros. */
struct relocation {
	/* For the last chunk: */
	uint32_t *map;	    /* by node: the node that replaces it */
	uint32_t *owner;    /* by node: number of the process that this is for; 0: none */
	uint32_t processes; /* number of processes so far */
	size_t map_room;
	uint32_t *next; /* by sample: the next sample of its process, plus 1; 0: none */
	size_t next_room;
	uint32_t *first; /* by process: its first sample, plus 1 */
	size_t first_room;
};

void relocation_free(struct relocation *relocation);

/* Replaces addresses in the chains of the batch, whose domains are the mappings'. -1 if
 * out of memory. */
int relocate(struct relocation *relocation, const struct mappings *mappings,
	     struct samples_batch *batch);

#endif

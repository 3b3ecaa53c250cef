/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_FLAME_FUNCTIONS_H
#define UNIPROF_OUTPUT_FLAME_FUNCTIONS_H

#include "output/report.h"

/* Where a function was seen. */
struct function_place {
	bool is_upper;	 /* in the upper part of the address space: domain_is_upper() */
	bool is_lower;	 /* in the lower part */
	const char *dso; /* of struct frame, by one of its addresses; NULL if unknown */
};

/* Returns the places of all functions in the report's stacks, by function. The caller
 * frees the array; NULL if out of memory. */
struct function_place *functions_places(const struct report *report);

#endif

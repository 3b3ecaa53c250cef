/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_INFO_LINKS_H
#define UNIPROF_REPORT_INFO_LINKS_H

#include "report/load/summary.h"
#include "report/model/stacks.h"
#include "symbols/links.h"

/*
 * How many links between a function and its caller, in the chains of a recording, are
 * confirmed by the code of the guest's programs. How chains were found does not matter,
 * so any recording can be judged.
 */

/* A program, of one domain or of all. */
struct links_file {
	char *spec;	    /* owns domain */
	const char *domain; /* NULL: all domains */
	struct program program;
};

/* Starts as zeros. */
struct links {
	struct links_file *file;
	size_t files;
	uint64_t counts[LINK_KINDS]; /* weighted as the samples */
};

/* Opens the program of @spec: ELF[@OFFSET][,domain=NAME]. -1 with @err set on error. */
int links_add(struct links *links, const char *spec, struct error *err);
void links_free(struct links *links);

/* Checks the links of all chains. -1 if out of memory. */
int links_measure(struct links *links, const struct stacks *stacks,
		  const struct summary *summary);

#endif

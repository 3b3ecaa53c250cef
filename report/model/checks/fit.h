/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_CHECKS_FIT_H
#define UNIPROF_REPORT_MODEL_CHECKS_FIT_H

#include "report/model/frames.h"
#include "report/model/stacks.h"

/*
 * Whether symbol files match the code that ran. The instruction before a return address
 * is a call: in the right file this is true of nearly all return addresses; in a file of
 * another build, of few. Interrupted addresses are not return addresses.
 */
struct fit_part {
	const char *domain; /* the domain's name */
	const struct symbols_file *file;
	uint32_t addresses; /* distinct return addresses in the file's code */
	uint32_t misfits;   /* return addresses that don't follow a call */
};

/* Starts as zeros. */
struct fit {
	struct fit_part *list;
	size_t count;
	struct names *domains; /* names of domains with return addresses */
};

/* Checks each return address of the chains that count. -1 if out of memory. */
int fit_measure(struct fit *fit, const struct stacks *stacks, struct frames *frames,
		const struct summary *summary);
void fit_free(struct fit *fit);

/* Sets @line to a message that the file doesn't match what ran in the domain, and what to
 * do. False if it matches, or if there are too few addresses to decide. */
bool fit_note(const struct fit *fit, size_t part, struct error *line);

/* Sets @line to the numbers found. */
void fit_describe(const struct fit *fit, size_t part, struct error *line);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_HISTOGRAM_HISTOGRAM_H
#define UNIPROF_OUTPUT_HISTOGRAM_HISTOGRAM_H

#include "output/output.h"

/*
 * Samples, or their time, by domain and function, for the outputs that show them as a
 * table. The first functions are output operations shared by these outputs.
 */
struct histogram;

struct histogram_row {
	const char *domain; /* the domain's name */
	const char *file;   /* NULL: not shown */
	/* FILTER_UNNAMED for all addresses without a name, unless these have rows; "" if
	 * rows are not functions. */
	const char *function;
	uint64_t self;	/* samples of the function itself */
	uint64_t total; /* samples with the function in their call chain, once each */
	const uint64_t *vcpus; /* self by column of histogram_vcpus(); can be NULL */
};

void *histogram_begin(const struct report *report);
int histogram_sample(void *state, const struct counted_sample *sample);
void histogram_free(void *state);

/* Makes the rows, after the last sample. -1 if out of memory. */
int histogram_finish(struct histogram *histogram);

const struct report *histogram_report(const struct histogram *histogram);
/* Sets *@rows to the rows to show, and returns their number. They are sorted by self,
 * total, function, domain, or as the view says. */
uint32_t histogram_rows(const struct histogram *histogram,
			const struct histogram_row **rows);
/* Returns the number of rows beyond the view's most_rows, which are not shown. */
uint32_t histogram_left_out(const struct histogram *histogram);
/* Sets *@vcpus to the vCPUs with columns, ascending, and returns their number: 0 unless
 * per_vcpu is set. */
uint32_t histogram_vcpus(const struct histogram *histogram, const uint32_t **vcpus);

/* Returns @count in percent of the total before the report's filter. */
double histogram_percent(const struct histogram *histogram, uint64_t count);

#endif

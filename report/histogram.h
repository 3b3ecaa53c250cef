/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_HISTOGRAM_H
#define UNIPROF_REPORT_HISTOGRAM_H

#include "report/output.h"

/*
 * Samples, or their time, by domain and function, for the outputs that show them as
 * a table. The first functions are output operations, which these outputs share.
 */
struct histogram;

struct histogram_row {
	const char *domain;    /* its name */
	const char *function;  /* FILTER_UNNAMED for all addresses without a name */
	uint64_t self;	       /* samples in it */
	uint64_t total;	       /* samples with it in their call chain, once each */
	const uint64_t *vcpus; /* self by column of histogram_vcpus(); maybe NULL */
};

void *histogram_begin(const struct report *report);
int histogram_sample(void *state, const struct output_sample *sample);
void histogram_free(void *state);

/* Makes the rows, when all samples were given. -1 when memory is short. */
int histogram_finish(struct histogram *histogram);

const struct report *histogram_report(const struct histogram *histogram);
/* Those that are to be shown, by self, total, function, domain. */
uint32_t histogram_rows(const struct histogram *histogram,
			const struct histogram_row **rows);
/* The vCPUs that have a column each, in order; none unless per_vcpu was wanted. */
uint32_t histogram_vcpus(const struct histogram *histogram, const uint32_t **vcpus);

/* In per cent of what samples counted for before the report's filter. */
double histogram_percent(const struct histogram *histogram, uint64_t count);

#endif

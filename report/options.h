/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_OPTIONS_H
#define UNIPROF_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/output.h"

/* What `uniprof report` was asked for. The strings are argv's. */
struct report_options {
	const char *input;
	const char *output; /* NULL: standard output */
	const struct output *format;
	const char *domains; /* to report; NULL: all */
	enum measure_weight weight;
	enum measure_states states;
	const char **symbols;
	size_t symbol_count;
	const char *symfs; /* NULL: / */
	const char *debug_directory;
	bool demangle, srcline, inlined;
	bool per_vcpu;
	bool verbose;
};

#define REPORT_GO_ON (-1)

/*
 * REPORT_GO_ON, or the exit code when all is said and done: help was given, or
 * why the options can't be understood. Either way report_options_free() is due.
 */
int report_options_parse(struct report_options *options, int argc, char **argv);
void report_options_free(struct report_options *options);

#endif

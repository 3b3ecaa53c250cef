/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_OPTIONS_H
#define UNIPROF_REPORT_OPTIONS_H

#include "report/output.h"
#include "report/profile_options.h"

/* What `uniprof report` was asked for. The strings are argv's. */
struct report_options {
	struct profile_options profile;
	const char *output; /* NULL: standard output */
	const struct output *format;
	struct report_view view;
};

/*
 * PROFILE_GO_ON, or the exit code when all is said and done: help was given, or
 * why the options can't be understood. Either way report_options_free() is due.
 */
int report_options_parse(struct report_options *options, int argc, char **argv);
void report_options_free(struct report_options *options);

/* What --percent-limit of `uniprof @command` takes: a number from 0 to 100, with or
 * without '%'. PROFILE_GO_ON, or the exit code when that has been complained of. */
int report_parse_limit(const char *command, const char *text, double *percent);

#endif

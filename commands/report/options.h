/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_REPORT_OPTIONS_H
#define UNIPROF_COMMANDS_REPORT_OPTIONS_H

#include "commands/report/profile_options.h"
#include "output/output.h"

/* The options of `uniprof report`. The strings are argv's. */
struct report_options {
	struct profile_options profile;
	const char *output;   /* NULL: standard output */
	bool opens;	      /* shows the file in a browser */
	const char *baseline; /* recording to compare with; NULL: none */
	const struct output *format;
	bool no_pager;
	struct report_view view;
};

extern const struct option_group report_option_groups[];

/*
 * COMMAND_GO_ON, or the exit code if help was shown or an error reported.
 * report_options_free() must be called either way.
 */
int report_options_parse(struct report_options *options, const struct command *command,
			 int argc, char **argv);
void report_options_free(struct report_options *options);

/* Parses the value of --percent-limit, a number from 0 to 100, with or without '%'. -1 if
 * @text is invalid. */
int report_parse_limit(const char *text, double *percent);

#endif

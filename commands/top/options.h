/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_OPTIONS_H
#define UNIPROF_COMMANDS_TOP_OPTIONS_H

#include "commands/report/profile_options.h"
#include "commands/words.h"
#include "record/find/find.h"
#include "output/output.h"

/* Options that are passed on to `uniprof record`, which checks them. NULL: not given. */
struct sampling_options {
	const char *frequency, *max_overhead, *call_graph, *no_stop, *event, *gdb;
	const char **tables;
	size_t table_count;
	bool all, follow, no_find, jitter, unpause, force;
	bool waits;
};

/* The options of `uniprof top`. The strings are argv's. */
struct top_options {
	const char *input; /* NULL: sample the domains */
	char **domains;	   /* ends with NULL */
	struct sampling_options sampling;
	struct profile_options profile;
	uint64_t tables; /* number of tables to print; 0: show them on the terminal */
	uint64_t delay;	 /* time between tables, ns */
	uint64_t window; /* time that a table covers, ns; 0: all */
	bool has_window;
	const struct output *format;
	struct report_view view;
};

extern const struct option_group top_option_groups[];

/* Returns COMMAND_GO_ON, or the exit code if help was shown or an error reported.
 * top_options_free() must be called either way. */
int top_options_parse(struct top_options *options, const struct command *command,
		      int argc, char **argv);
void top_options_free(struct top_options *options);

/* Looks for files of the guests, for their names, as the recorder will do to unwind. */
void top_options_find(const struct top_options *options, struct found_files *found);

/* Sets @words, which is empty, to the command line of `uniprof record`. */
void top_options_record(const struct top_options *options, struct words *words);

#endif

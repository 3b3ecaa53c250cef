/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_VIEW_H
#define UNIPROF_COMMANDS_TOP_VIEW_H

#include "commands/report/profile_options.h"
#include "output/output.h"

/* A report of the recent part of a recording, as the user has chosen it: options, and
 * what the functions below change of them while it is shown. */
struct view {
	struct profile_options *options;
	const struct output *format;
	struct report_view report;
	const char *name; /* name of the recording, for messages */
	struct profile profile;
	bool is_open;
	bool is_shown;	   /* a table was written */
	char filter[256];  /* regular expression of functions; "": none was set */
	char domains[256]; /* as set, which @options refers to */
	char **specs;	   /* symbol files added, which @options refers to */
	size_t spec_count;
};

/* Reads the symbols. The first four members are set. view_close() must be called either
 * way; -1 with @err set on failure. */
int view_open(struct view *view, const char *path, struct error *err);
void view_close(struct view *view);

/* Writes a table of the recording at @path to @out. -1 with @err set on failure. */
int view_write(struct view *view, const char *path, FILE *out, struct error *err);

/* Limits later tables to samples with a function that matches @regex; "": no limit. -1
 * with @err set, and nothing changed, if it is invalid. */
int view_set_filter(struct view *view, const char *regex, struct error *err);

/* Limits later tables to @domains, names or ids separated by commas; "": no limit. -1
 * with @err set, and nothing changed, if the recording of @summary has no such domain. */
int view_set_domains(struct view *view, const struct summary *summary,
		     const char *domains, struct error *err);

/* Opens the symbol file of @spec, too, for later tables. -1 with @err set, and nothing
 * changed, if it does not fit the recording at @path. */
int view_add_symbols(struct view *view, const char *path, const char *spec,
		     struct error *err);

#endif

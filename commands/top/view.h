/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_VIEW_H
#define UNIPROF_COMMANDS_TOP_VIEW_H

#include "commands/top/recent.h"
#include "report/output/output.h"
#include "report/report.h"

/* What is shown of the recent part of a recording: a report of its copy. */
struct view {
	struct profile_rules *rules;
	const struct output *format;
	struct report_view report;
	const char *name; /* of the recording, for messages */
	struct profile profile;
	bool is_open, is_shown; /* a table was written */
};

/* Reads the symbols. view_close() must be called either way; -1 with @err set on failure.
 */
int view_open(struct view *view, const char *path, struct error *err);
void view_close(struct view *view);

/* Writes a table of the recording at @path to @out. -1 with @err set on failure. */
int view_write(struct view *view, const char *path, FILE *out, struct error *err);

/* Opens the symbol file of @spec, too, for later tables; the string must stay valid. -1
 * with @err set, and nothing changed, if it does not fit the recording at @path. */
int view_add_symbols(struct view *view, const char *path, const char *spec,
		     struct error *err);

#endif

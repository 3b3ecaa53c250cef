/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_IMPORT_FORMAT_H
#define UNIPROF_IMPORT_FORMAT_H

#include "import/importer.h"
#include "import/lines.h"

/*
 * One format of text that can be imported. A new one is a file and a line in
 * format.c's table.
 */
struct import_format {
	const char *name;
	const char *about; /* for --help: one line */

	/* Whether the line is of this format and can't well be of one further down in
	 * the table. */
	bool (*recognize)(struct recording_text line);
	size_t state_size; /* bytes, zeros at the start; what the others get */
	/* Takes a line, without its end. -1 with @err set when it makes no sense. */
	int (*line)(void *state, struct importer *importer, struct recording_text line,
		    struct error *err);
	/* All lines were given: 0, -1 as above, or IMPORT_CUT. */
	int (*end)(void *state, struct importer *importer, struct error *err);
};

/* The text ends within a sample, which was left out. */
#define IMPORT_CUT 1

extern const struct import_format import_uniprof_2017;
extern const struct import_format import_xenctx;
extern const struct import_format import_perf_script;
extern const struct import_format import_folded;

/* The format called @name; NULL when there is none. */
const struct import_format *import_format_find(const char *name);
/* All of them; ends with NULL. */
const struct import_format *const *import_format_list(void);

/* The format of the lines ahead; NULL with @err set when it can't be told. */
const struct import_format *import_format_recognize(struct lines *lines,
						    struct error *err);

/*
 * Imports all lines and ends the recording: 0, IMPORT_CUT, or -1 with @err set, which
 * names the line.
 */
int import_lines(const struct import_format *format, struct lines *lines,
		 struct importer *importer, struct error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_IMPORT_FORMAT_H
#define UNIPROF_IMPORT_FORMAT_H

#include "import/importer.h"
#include "import/lines.h"

/* The user's options. */
struct import_options {
	const char *event; /* event to import; NULL: the first in the text */
};

/* The outcome of importing a text. */
struct import_result {
	uint64_t skipped;     /* number of lines that could not be parsed */
	struct error first;   /* the first skipped line, and why */
	bool is_cut;	      /* the text ended within a sample, which was skipped */
	struct error stopped; /* the line where the import stopped, and why, or empty */
	struct error note;    /* a note for the user, or empty */
};

/*
 * A text format that can be imported. A new one takes a file and a line in the table
 * in format.c.
 */
struct import_format {
	const char *name;
	const char *about; /* one line for --help */
	bool has_events;   /* import_options.event applies */

	/* Returns whether the line is in this format and unlikely to be in a format
	 * further down in the table. */
	bool (*recognize)(struct recording_text line);
	size_t state_size; /* size of @state, bytes; zeroed at the start */
	/* Takes the user's options. NULL: the format has no options. */
	void (*begin)(void *state, const struct import_options *options);
	/* Takes a line without its line end. -1 with @err set if the line can't be used;
	 * see importer_state() for whether the import can go on. */
	int (*line)(void *state, struct importer *importer, struct recording_text line,
		    struct error *err);
	/* Ends the text, and fills in @result, except for its note. Called after the last
	 * line, but not if a limit of recordings has stopped the import. -1 with @err set
	 * if nothing can be imported. */
	int (*end)(void *state, struct importer *importer, struct import_result *result,
		   struct error *err);
	/* Sets a note for the user about the lines that were taken, if there is one.
	 * Called after end(), or when a limit has stopped the import. NULL: the format
	 * has no notes. */
	void (*note)(const void *state, struct error *note);
	/* Frees the memory that @state refers to; NULL: there is none. */
	void (*release)(void *state);
};

extern const struct import_format import_uniprof_2017;
extern const struct import_format import_xenctx;
extern const struct import_format import_perf_script;
extern const struct import_format import_ftrace;
extern const struct import_format import_folded;

/* Returns the format called @name; NULL if there is none. */
const struct import_format *import_format_find(const char *name);
/* Returns all formats, in an array that ends with NULL. */
const struct import_format *const *import_format_list(void);

/* Detects the format of the lines ahead; NULL with @err set if it is unknown. */
const struct import_format *import_format_recognize(struct lines *lines,
						    struct error *err);

/*
 * Imports all valid lines and ends the recording. -1 with @err set if there is no
 * recording; if importer_state() is IMPORTER_GOOD or IMPORTER_FULL, the text is at fault.
 */
int import_lines(const struct import_format *format, const struct import_options *options,
		 struct lines *lines, struct importer *importer,
		 struct import_result *result, struct error *err);

#endif

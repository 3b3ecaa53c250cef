/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_NOTES_NOTES_H
#define UNIPROF_REPORT_MODEL_NOTES_NOTES_H

#include <stdbool.h>
#include <stddef.h>

/* What a user should know about a report besides its content. Commands print it. */
enum note_kind {
	NOTE_DETAIL,  /* a plain line: numbers for --verbose, or damage */
	NOTE_HINT,    /* something unusual, or missing */
	NOTE_WARNING, /* the report may be wrong */
};

struct note {
	enum note_kind kind;
	char *text; /* one line */
};

/* Notes, in the order in which they were added. Starts as zeros. */
struct notes {
	struct note *list;
	size_t count;
	size_t printed; /* notes at the start of the list that the command has printed */
	struct names *texts; /* hints and warnings, each of which is added once */
	bool failed;	     /* out of memory: a note is missing */
};

/* Adds a note, with a text formatted as by error_set(). A hint or a warning that was
 * added before is not added again. */
void notes_add(struct notes *notes, enum note_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Removes all notes but the first @count. */
void notes_cut(struct notes *notes, size_t count);

void notes_free(struct notes *notes);

#endif

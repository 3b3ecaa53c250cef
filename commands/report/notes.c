/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/report/notes.h"

#include <stdio.h>

static void note_print(const struct note *note, const char *command, const char *about)
{
	if (note->kind == NOTE_DETAIL)
		fprintf(stderr, "uniprof %s: %s\n", command, note->text);
	else
		fprintf(stderr, "uniprof %s: %s: %s%s%s\n", command,
			note->kind == NOTE_WARNING ? "warning" : "note",
			about ? about : "", about ? ": " : "", note->text);
}

void notes_print(struct notes *notes, const char *command, const char *about)
{
	while (notes->printed < notes->count)
		note_print(&notes->list[notes->printed++], command, about);
}

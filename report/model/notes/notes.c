/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/notes/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/names.h"
#include "base/text.h"

/* Whether the text was added before. If out of memory, it may be added twice. */
static bool is_repeated(struct notes *notes, const char *text)
{
	uint32_t count;

	if (!notes->texts)
		notes->texts = names_new();
	if (!notes->texts)
		return false;
	count = names_count(notes->texts);
	return names_intern(notes->texts, text) < count;
}

void notes_add(struct notes *notes, enum note_kind kind, const char *format, ...)
{
	char text[sizeof(struct error)];
	char *copy;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text_make_printable(text);
	if (kind != NOTE_DETAIL && is_repeated(notes, text))
		return;
	copy = strdup(text);
	if (!copy || !array_grow(&notes->list, notes->count + 1, sizeof(*notes->list))) {
		free(copy);
		notes->failed = true;
		return;
	}
	notes->list[notes->count].kind = kind;
	notes->list[notes->count++].text = copy;
}

void notes_cut(struct notes *notes, size_t count)
{
	while (notes->count > count)
		free(notes->list[--notes->count].text);
}

void notes_free(struct notes *notes)
{
	notes_cut(notes, 0);
	free(notes->list);
	if (notes->texts)
		names_free(notes->texts);
	*notes = (struct notes){0};
}

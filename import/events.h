/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_IMPORT_EVENTS_H
#define UNIPROF_IMPORT_EVENTS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/names.h"
#include "format/recording.h"

/*
 * The choice of an event. Samples of different events don't add up, so only one event of
 * a text is imported: the requested event, or the first. Starts as zeros except for
 * @wanted.
 */
struct events {
	const char *wanted;  /* requested event; NULL: the first in the text */
	struct names *names; /* names of all events seen */
	uint32_t chosen;     /* number of the imported event + 1; 0: not seen yet */
	uint64_t left_out;   /* samples of other events, not imported */
};

void events_free(struct events *events);

/* Returns whether to import a sample of the event @name: 1 or 0; -1 if out of memory. A
 * sample without an event (empty @name) is imported unless an event was requested. */
int events_take(struct events *events, struct recording_text name);

/* Returns the event that is imported; NULL until it is seen. */
const char *events_chosen(const struct events *events);

/* Returns whether @event, as perf prints it, is the event @name with any modifiers. */
bool events_is(const char *event, const char *name);

/* Writes to @line which event was imported and how much was skipped, unless no sample was
 * skipped. */
void events_note(const struct events *events, struct error *line);

/* Sets @err for a text without samples of the requested event. Returns -1. */
int events_missing(const struct events *events, struct error *err);

#endif

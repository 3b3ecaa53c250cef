/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of events listed in a message */
#define LISTED 8

void events_free(struct events *events)
{
	if (events->names)
		names_free(events->names);
	events->names = NULL;
}

bool events_is(const char *event, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(event, name, length) != 0)
		return false;
	/* perf-list(1), "EVENT MODIFIERS". */
	return !event[length] ||
	       (event[length] == ':' && event[length + 1] &&
		!event[length + 1 + strspn(event + length + 1, "ukhIGHpPSDWeb")]);
}

/* Returns the number of the event; NAMES_NONE if out of memory. */
static uint32_t event_number(struct events *events, struct recording_text name)
{
	char *copy = strndup(name.length ? name.at : "", name.length);
	uint32_t number = NAMES_NONE;

	if (!events->names)
		events->names = names_new();
	if (copy && events->names)
		number = names_intern(events->names, copy);
	free(copy);
	return number;
}

int events_take(struct events *events, struct recording_text name)
{
	uint32_t number;

	if (!name.length && !events->wanted)
		return 1;
	number = event_number(events, name);
	if (number == NAMES_NONE)
		return -1;
	if (!events->chosen &&
	    (!events->wanted ||
	     events_is(names_get(events->names, number), events->wanted)))
		events->chosen = number + 1;
	if (events->chosen == number + 1)
		return 1;
	events->left_out++;
	return 0;
}

const char *events_chosen(const struct events *events)
{
	return events->chosen ? names_get(events->names, events->chosen - 1) : NULL;
}

static const char *shown(const char *name)
{
	return *name ? name : "(no name)";
}

/* Lists the names of the events that are not imported. */
static void list_events(const struct events *events, char *text, size_t size)
{
	uint32_t count = events->names ? names_count(events->names) : 0, listed = 0;
	size_t used = 0;

	*text = 0;
	for (uint32_t i = 0; i < count && used < size; i++) {
		if (i + 1 == events->chosen)
			continue;
		if (listed++ == LISTED) {
			snprintf(text + used, size - used, ", ...");
			return;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 used ? ", " : "",
					 shown(names_get(events->names, i)));
	}
}

void events_note(const struct events *events, struct error *line)
{
	char others[256];

	if (!events->left_out || !events->chosen)
		return;
	list_events(events, others, sizeof(others));
	error_set(line,
		  "imported the event %s; skipped %" PRIu64 " samples of %" PRIu32
		  " other event%s (choose with --event): %s",
		  shown(events_chosen(events)), events->left_out,
		  names_count(events->names) - 1,
		  names_count(events->names) == 2 ? "" : "s", others);
}

int events_missing(const struct events *events, struct error *err)
{
	char others[256];

	list_events(events, others, sizeof(others));
	return error_set(err, "no samples of the event %s; the input has %s",
			 events->wanted, others);
}

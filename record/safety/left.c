/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/safety/left.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_named(const struct guest_info *guest, char **names, size_t count)
{
	char id[16];

	snprintf(id, sizeof(id), "%" PRIu32, guest->id);
	for (size_t i = 0; names && i < count; i++)
		if (strcmp(names[i], id) == 0 || strcmp(names[i], guest->name) == 0)
			return true;
	return !names;
}

/* 0, or -1 with the reason in @err. */
static int unpause(struct host *host, const struct guest_info *guest, const char *name,
		   struct error *err)
{
	int status = host->ops->unpause_left(host, guest, err);

	if (status == 0)
		fprintf(stderr,
			"uniprof record: ended the pause of '%s' left by a killed "
			"recorder\n",
			name);
	return status < 0 ? -1 : 0;
}

int left_report(struct host *host, bool end, char **names, size_t count,
		struct error *err)
{
	struct guest_info *guests;
	size_t guests_count, ended = 0;
	int status = 0;

	if (!host->ops->find_left)
		return 0;
	if (host->ops->find_left(host, &guests, &guests_count, err) < 0)
		return -1;
	for (size_t i = 0; i < guests_count && status == 0; i++) {
		const struct guest_info *guest = &guests[i];
		char id[16];
		const char *name = guest->name[0] ? guest->name : id;

		snprintf(id, sizeof(id), "%" PRIu32, guest->id);
		if (end && is_named(guest, names, count)) {
			status = unpause(host, guest, name, err);
			ended++;
			continue;
		}
		fprintf(stderr,
			"uniprof record: '%s' is paused: a recorder was killed together "
			"with its guard; resume it with '%s %s' or 'uniprof "
			"record --unpause %s'\n",
			name, host->ops->unpause_command, name, name);
	}
	if (end && !ended && status == 0)
		fprintf(stderr, "uniprof record: nothing to unpause: no killed recorder "
				"left these guests paused\n");
	free(guests);
	return status;
}

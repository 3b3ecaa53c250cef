/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/safety/left.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command/message.h"

/* Whether @guest is among the @count @names, names or ids; NULL: all. */
static bool is_named(const struct guest_info *guest, char **names, size_t count)
{
	char id[16];

	snprintf(id, sizeof(id), "%" PRIu32, guest->id);
	for (size_t i = 0; names && i < count; i++)
		if (strcmp(names[i], id) == 0 || strcmp(names[i], guest->name) == 0)
			return true;
	return !names;
}

/* Ends the pause of @guest, and says so: 0, or -1 with the reason in @err. */
static int unpause_guest(struct host *host, const struct guest_info *guest,
			 const char *name, struct error *err)
{
	int status = host->ops->unpause_left(host, guest, err);

	if (status == 0)
		message("record", "ended the pause of '%s' left by a killed recorder",
			name);
	return status < 0 ? -1 : 0;
}

int left_report(struct host *host, bool unpause, char **names, size_t count,
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
		if (unpause && is_named(guest, names, count)) {
			status = unpause_guest(host, guest, name, err);
			ended++;
			continue;
		}
		message("record",
			"'%s' is paused: a recorder was killed together with its guard; "
			"resume it with '%s %s' or 'uniprof record --unpause %s'",
			name, host->ops->unpause_command, name, name);
	}
	if (unpause && !ended && status == 0)
		message("record", "nothing to unpause: no killed recorder left these "
				  "guests paused");
	free(guests);
	return status;
}

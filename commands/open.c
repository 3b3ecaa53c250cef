/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/open.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

int open_set_gdb(void *to, const char *argument, struct error *err)
{
	*(const char **)to = argument;
	return host_check_gdb(argument, err);
}

struct host *open_host(const char *command, const struct open_wish *wish,
		       struct error *err)
{
	struct host_stub stub = {.address = ""};
	struct host *host = wish->gdb ? host_open(wish->gdb, wish->force, err)
				      : host_open_guest(wish->guest, wish->force, &stub,
							err);

	if (host && host->note[0])
		fprintf(stderr, "uniprof %s: %s\n", command, host->note);
	if (host && stub.address[0])
		fprintf(stderr,
			"uniprof %s: %s; sampling '%s' through its GDB stub at %s, which "
			"stops all of QEMU for each sample\n",
			command, stub.why.text, wish->guest, stub.address);
	return host;
}

static void find_for(struct found_files *found, const struct find_wish *wish,
		     const struct guest_info *guest)
{
	struct error why;

	if (found_files_add(found, guest, wish->by_id, &why) == 0)
		found_files_describe(found, found->guests - 1, &why);
	if (wish->notify)
		notify(wish->notify, "file of '%s': %s", guest->name, why.text);
}

void find_files(struct found_files *found, const struct find_wish *wish)
{
	uint64_t end = clock_monotonic() + FIND_NS;
	struct guest_info *guests;
	struct error ignored;
	size_t count;

	*found = (struct found_files){0};
	if (host_list_once(&guests, &count, &ignored) < 0)
		return;
	for (size_t i = 0; wish->all && i < count && clock_monotonic() < end; i++)
		if (guests[i].id) /* not Xen's domain 0 */
			find_for(found, wish, &guests[i]);
	for (size_t i = 0; i < wish->domains; i++) {
		size_t j = 0;

		while (j < count && !guest_info_matches(&guests[j], wish->domain[i]))
			j++;
		if (j < count)
			find_for(found, wish, &guests[j]);
	}
	free(guests);
}

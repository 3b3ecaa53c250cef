/* SPDX-License-Identifier: BSD-3-Clause */
#include "guest/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void host_close(struct host *host)
{
	if (host)
		host->ops->close(host);
}

/* Digits only; -1 if @name is not an id. */
static long long parse_id(const char *name)
{
	char *end;
	long long id;

	if (name[0] < '0' || name[0] > '9')
		return -1;
	errno = 0;
	id = strtoll(name, &end, 10);
	return *end || errno || id > UINT32_MAX ? -1 : id;
}

int host_find(struct host *host, const char *name, struct guest_info *info,
	      struct error *err)
{
	struct guest_info *guests;
	long long id = parse_id(name);
	size_t count;
	int status = 1;

	if (id >= 0) {
		status = host->ops->info(host, (uint32_t)id, info, err);
	} else {
		if (host->ops->list(host, &guests, &count, err) < 0)
			return -1;
		for (size_t i = 0; i < count && status; i++) {
			if (strcmp(guests[i].name, name) == 0) {
				*info = guests[i];
				status = 0;
			}
		}
		free(guests);
	}
	if (status > 0)
		return error_set(err, "there is no domain '%s' (see uniprof list)", name);
	return status;
}

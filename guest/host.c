/* SPDX-License-Identifier: BSD-3-Clause */
#include "guest/host.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"

struct guest_info *guest_infos_new(struct error *err)
{
	struct guest_info *guests = malloc(sizeof(*guests));

	if (!guests)
		error_set(err, "out of memory");
	return guests;
}

bool guest_infos_add(struct guest_info **guests, size_t *count,
		     const struct guest_info *guest)
{
	if (!array_grow(guests, *count + 1, sizeof(**guests)))
		return false;
	(*guests)[(*count)++] = *guest;
	return true;
}

static int compare_ids(const void *a, const void *b)
{
	const struct guest_info *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

void guest_infos_sort(struct guest_info *guests, size_t count)
{
	if (count)
		qsort(guests, count, sizeof(*guests), compare_ids);
}

bool guest_info_is_named(const struct guest_info *guest, const char *name)
{
	char clean[sizeof(guest->name)];

	snprintf(clean, sizeof(clean), "%s", name);
	text_clean(clean, clean);
	return strcmp(guest->name, clean) == 0;
}

bool guest_info_matches(const struct guest_info *guest, const char *name)
{
	char id[16];

	snprintf(id, sizeof(id), "%" PRIu32, guest->id);
	return guest_info_is_named(guest, name) || strcmp(id, name) == 0;
}

bool host_is_over(const struct host *host)
{
	sigset_t pending, ends;

	if (host->until && clock_monotonic() >= host->until)
		return true;
	sigpending(&pending);
	sigandset(&ends, &pending, &host->ends);
	return !sigisemptyset(&ends);
}

void host_close(struct host *host)
{
	if (host)
		host->ops->close(host);
}

/* Parses @name as an id, which has only digits; -1 if it is not an id. */
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

/* Whether another guest than @found has the name; if so, sets @err to the ids of all. */
static bool is_ambiguous(const struct guest_info *guests, size_t count, const char *name,
			 const struct guest_info *found, struct error *err)
{
	size_t named = 0, used = 0;
	char ids[128] = "";

	for (size_t i = 0; i < count; i++) {
		const struct guest_info *guest = &guests[i];

		if (guest->is_hidden != found->is_hidden || guest->dying ||
		    !guest_info_is_named(guest, name))
			continue;
		if (used < sizeof(ids))
			used += (size_t)snprintf(ids + used, sizeof(ids) - used,
						 "%s%" PRIu32, named ? ", " : "",
						 guest->id);
		named++;
	}
	if (named > 1)
		error_set(err,
			  "%zu guests are called '%s': give the id of one instead (%s%s)",
			  named, name, ids, used < sizeof(ids) ? "" : "...");
	return named > 1;
}

/* Finds a guest by its name: 0; 1 if there is none; -1 if it can't be inspected, or if
 * several have the name. */
static int find_name(struct host *host, const char *name, struct guest_info *info,
		     struct error *err)
{
	const struct guest_info *found = NULL;
	struct guest_info *guests;
	size_t count;
	int status = 1;

	if (host->ops->list(host, &guests, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (guest_info_is_named(&guests[i], name) && (!found || found->is_hidden))
			found = &guests[i];
	if (found) {
		*info = *found;
		status = is_ambiguous(guests, count, name, found, err) ? -1 : 0;
	}
	free(guests);
	return status == 0 && info->is_hidden ? host->ops->info(host, info->id, info, err)
					      : status;
}

static bool is_process(pid_t pid)
{
	return kill(pid, 0) == 0 || errno == EPERM;
}

int host_find(struct host *host, const char *name, struct guest_info *info,
	      struct error *err)
{
	long long id = parse_id(name);
	int status = id < 0 ? find_name(host, name, info, err)
			    : host->ops->info(host, (uint32_t)id, info, err);

	if (status > 0 && id > 0 && host->ops->has_vmms && is_process((pid_t)id))
		return error_set(err, "process %s runs no guest (see uniprof list)",
				 name);
	if (status > 0)
		return error_set(err, "there is no domain '%s' (see uniprof list)", name);
	return status;
}

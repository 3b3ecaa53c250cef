/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_DOMAINS_WATCH_H
#define UNIPROF_RECORD_DOMAINS_WATCH_H

#include "guest/host.h"
#include "record/find/finder.h"

/*
 * Lists the host's guests repeatedly, in a separate thread: a listing queries other
 * processes, whose answers may take long, and samples must not wait for them. A listing
 * also waits for the files of guests that were not listed before, each for up to
 * FIND_LATER_NS.
 */
struct watch;

/* A guest in a listing. */
struct watched {
	struct guest_info info;
	struct finder_answer file; /* unless it was not looked for */
};

/* Whose files are looked for, as soon as they are listed. */
struct watch_wish {
	struct finder *finder; /* NULL: no files are looked for */
	bool (*wants)(const void *context, const struct guest_info *guest);
	const void *context; /* of @wants, for any thread */
};

/* Creates a watch. It takes ownership of @host, which only its thread may use from
 * here on; the wish's finder, too. NULL with the reason in @err on failure; also if @host
 * is NULL, for which @err has the reason already. */
struct watch *watch_new(struct host *host, const struct watch_wish *wish,
			struct error *err);

/* Starts the thread, with the privileges of the caller: 0, or -1. */
int watch_start(struct watch *watch, struct error *err);

/* Omits the guest from listings as long as it exists; a later guest with its id is
 * listed. */
void watch_refuse(struct watch *watch, const struct guest_info *guest);

/* Takes the newest listing, if it was started after @since (ns, monotonic); NULL if there
 * is none, or if it was taken already. The caller frees the array. */
struct watched *watch_take(struct watch *watch, uint64_t since, size_t *count);

/* Ends the thread, which may take as long as a listing, but not to find a file. @watch
 * may be NULL. */
void watch_free(struct watch *watch);

#endif

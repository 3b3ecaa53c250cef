/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_DOMAINS_WATCH_H
#define UNIPROF_RECORD_DOMAINS_WATCH_H

#include "guest/host.h"

/*
 * Lists the host's guests repeatedly, in a separate thread: a listing queries other
 * processes, whose answers may take long, and samples must not wait for them.
 */
struct watch;

/* Creates a watch. It takes ownership of @host, which only its thread may use from
 * here on. NULL with the reason in @err on failure; also if @host is NULL, for which
 * @err has the reason already. */
struct watch *watch_new(struct host *host, struct error *err);

/* Starts the thread, with the privileges of the caller: 0, or -1. */
int watch_start(struct watch *watch, struct error *err);

/* Omits the guest from listings as long as it exists; a later guest with its id is
 * listed. */
void watch_refuse(struct watch *watch, const struct guest_info *guest);

/* Takes the newest listing, if it was started after @since (ns, monotonic); NULL if there
 * is none, or if it was taken already. The caller frees the array. */
struct guest_info *watch_take(struct watch *watch, uint64_t since, size_t *count);

/* Ends the thread, which may take as long as a listing. @watch may be NULL. */
void watch_free(struct watch *watch);

#endif

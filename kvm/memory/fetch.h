/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_MEMORY_FETCH_H
#define UNIPROF_KVM_MEMORY_FETCH_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * Fetches pages of VMMs that are not in memory, in a thread of its own, because another
 * program may have to provide them (userfaultfd(2)) and may take any time. The data is
 * not returned: once a page is there, it can be read as any other.
 *
 * What a VMM has given back is not fetched: a page of shared memory that no userfaultfd
 * waits for.
 */
struct fetch;

/* NULL with the reason in @err on failure. */
struct fetch *fetch_new(struct error *err);

/* Starts the thread, which first calls @begin. Returns after that call: 0, or -1 with the
 * reason in @err. @begin may be NULL. */
int fetch_start(struct fetch *fetch, void (*begin)(void), struct error *err);

/* Asks for the page of @pid at @address; never waits. Requests that find no room, because
 * the thread waits for others, are dropped. */
void fetch_ask(struct fetch *fetch, pid_t pid, uint64_t address);

/* Ends the thread, without waiting for it: it may still wait for another program. @fetch
 * may be NULL. */
void fetch_end(struct fetch *fetch);

#endif

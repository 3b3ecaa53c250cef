/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_SAFETY_FILTER_H
#define UNIPROF_RECORD_SAFETY_FILTER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "guest/host.h"

/*
 * Filters of system calls (seccomp(2)), for processes that have completed their start. A
 * call that is no longer needed fails with EPERM, and Linux 4.14 and later log it. No
 * call ends the process: a guard that is killed can't resume a guest.
 *
 * A filter is permanent, for all threads of the process, whenever they start. The
 * functions return 0, or -1 with the reason in @err if there is no filter: the program
 * was built without libseccomp, with sanitizers, or for another CPU than x86-64 and
 * arm64, or the kernel does not have filters (Linux 3.17).
 */

/*
 * Restricts a recorder to sampling guests that are open, writing to open files, and
 * ending. With @follow, it may also list and open guests that start later, and start
 * threads for this. Unless it is -1, @opener is a socket on which it may receive
 * messages. Must be called after its threads have set their priorities.
 */
int filter_recorder(const struct host_needs *host, bool follow, int opener,
		    struct error *err);

/* The processes and files that a guard's filter refers to. */
struct filter_guard {
	pid_t recorder; /* the process that it stops, continues and kills */
	int pidfd;	/* a descriptor of @recorder; -1: it is signalled by its pid */
	int ready;	/* the descriptor on which it writes that it has started */
};

/* Restricts a guard to waiting for the recorder's end, stopping, continuing and killing
 * it, resuming a guest, and writing messages. */
int filter_guard(const struct host_needs *host, const struct filter_guard *guard,
		 struct error *err);

/* Restricts a process that reads symbol files, makes a table of them, and writes to open
 * descriptors: files can be opened for reading only. */
int filter_finder(struct error *err);

/*
 * Restricts a process that reads recordings and symbol files and writes files, with or
 * without a terminal: it may make any call but those that run programs, start or trace
 * processes, open sockets, make memory executable, change the kernel, or make requests of
 * one of the @hypervisors, an array that ends with NULL.
 */
int filter_reader(const struct hypervisor *const *hypervisors, struct error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_OPEN_H
#define UNIPROF_RECORD_OPEN_H

#include "guest/host.h"

/* Returns all supported hypervisors, in an array that ends with NULL. */
const struct hypervisor *const *host_hypervisors(void);

/*
 * Opens the hypervisor of this host, or instead the GDB stub at @gdb, if that is not
 * NULL. NULL with the reason in @err if there is none, no permission, or no supported
 * version; with @force, a newer version than the known ones is used even if it does not
 * answer as expected.
 */
struct host *host_open(const char *gdb, bool force, struct error *err);

/* A stub that is used instead of the hypervisor, and the reason. */
struct host_stub {
	char address[256]; /* of a GDB stub; empty: none */
	struct error why;
};

/*
 * Opens the hypervisor of this host, as host_open() does, for one guest, by its name or
 * id. If the guest is a QEMU's that can't be sampled by KVM, but whose command line says
 * where its GDB stub listens on this host, opens that stub, and fills in @used. @guest
 * may be NULL, for several guests. Connects to nothing yet.
 */
struct host *host_open_guest(const char *guest, bool force, struct host_stub *used,
			     struct error *err);

/*
 * Lists all guests as host_ops.list() does, and also guests that only host_open_guest()
 * finds. @host may be NULL if it could not be opened; the reason, which is in @err, then
 * stays there.
 */
int host_list(struct host *host, struct guest_info **guests, size_t *count,
	      struct error *err);

/* Lists the guests of this host, also those that only host_open_guest() finds, and leaves
 * no hypervisor open. */
int host_list_once(struct guest_info **guests, size_t *count, struct error *err);

/* Checks the syntax of a GDB stub's address: 0, or -1. */
int host_check_gdb(const char *gdb, struct error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_HOST_OPEN_H
#define UNIPROF_HOST_OPEN_H

#include "guest/host.h"

/* Opens the hypervisor of this host, or instead the GDB stub at @gdb, if that is not
 * NULL. NULL with the reason in @err if there is none, no permission, or no supported
 * version; with @force, one newer than those known is used even if it does not answer as
 * expected.
 */
struct host *host_open(const char *gdb, bool force, struct error *err);

/* Checks how the address of a GDB stub is written: 0, or -1. */
int host_check_gdb(const char *gdb, struct error *err);

#endif

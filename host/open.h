/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_HOST_OPEN_H
#define UNIPROF_HOST_OPEN_H

#include "guest/host.h"

/* Opens the hypervisor of this host. NULL with the reason in @err if there is none, no
 * permission, or no supported version; with @force, one newer than those known is used
 * even if it does not answer as expected. */
struct host *host_open(bool force, struct error *err);

#endif

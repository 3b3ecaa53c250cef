/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_XEN_H
#define UNIPROF_XEN_XEN_H

#include "guest/host.h"

/*
 * Opens the hypercall interface and detects the version of the hypervisor's domctl
 * interface. NULL with the reason in @err if there is no Xen, no permission, or no
 * supported version; a version newer than those known is supported if its answers fit,
 * and always with @force. The program must run in a domain that may control others,
 * usually dom0.
 */
struct host *xen_open(bool force, struct error *err);

/* Whether this machine runs on Xen or has its driver. */
bool xen_exists(void);

#endif

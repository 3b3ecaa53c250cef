/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_XEN_H
#define UNIPROF_XEN_XEN_H

#include "guest/host.h"

/*
 * The Xen whose dom0, or another domain that may control others, this program runs in. A
 * version of its domctl interface newer than the known ones is used if its answers fit.
 */
extern const struct hypervisor xen_hypervisor;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_INTERNAL_H
#define UNIPROF_XEN_INTERNAL_H

#define __XEN_TOOLS__ 1
#include <stdint.h>
#include <xen/xen.h>
#include <xen/domctl.h>
#include <xen/sched.h>

#include "xen/library.h"
#include "xen/xen.h"

/*
 * Of Xen's domctls, uniprof uses those whose layout has not changed from
 * interface version 0xb (Xen 4.7) on: of struct xen_domctl_getdomaininfo what
 * comes before ssidref, and its handle. tests/unit/test_xen_abi.c holds the
 * installed headers to that.
 */
struct xen {
	struct xen_library lib;
	xencall_handle *call;
	struct xs_handle *store; /* NULL when xenstore can't be reached */
	uint32_t domctl_version;
	char version[64];
	void *scratch; /* a hypercall-safe page, for calls outside of sampling */
};

/* Sets the fields that every domctl has. */
void xen_domctl_init(const struct xen *xen, struct xen_domctl *domctl, uint32_t command,
		     uint32_t domain);

/* Makes one call; its results are put back into @domctl. 0, or -errno. */
int xen_domctl(struct xen *xen, struct xen_domctl *domctl);

#endif

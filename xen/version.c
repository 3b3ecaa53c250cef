/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/internal.h"

#include <errno.h>
#include <stdio.h>

#include "xen/hypercall.h"
#include "xen/newer.h"

/*
 * The interface versions of Xen 4.7 and of the newest Xen whose header was checked. None
 * between them changed a number or a layout that uniprof uses on x86. What the last ones
 * changed, according to xen/include/public/domctl.h and the commits that changed it:
 *
 * 0x14  4.16        vcpu_guest_context on ARM: cpsr has 64 bits (xen/registers_arm.c)
 * 0x15  4.17        nothing that uniprof uses
 * 0x16  4.18        getdomaininfo fails if there is no such domain, instead of describing
 *                   the next one (31c655497461)
 * 0x17  4.19..4.21  an addition for ARM: XEN_DOMCTL_dt_overlay (4c733873b5c2)
 * 0x18  4.22        xen_arch_domainconfig on ARM has two more members (v8r_el1_msa, pad):
 *                   the end of getdomaininfo, after all that uniprof reads
 *
 * Newer versions are tried, but only used if their answers fit (xen/newer.h).
 */
#define DOMCTL_OLDEST 0x0b
#define DOMCTL_BEYOND (DOMCTL_NEWEST + 8)

/* Whether the version just detected may be used. */
static int check_version(struct xen *xen, bool force, struct error *err)
{
	if (xen->host.domctl_version <= DOMCTL_NEWEST)
		return 0;
	snprintf(xen->host.note, sizeof(xen->host.note),
		 "%s has domctl interface version 0x%x, newer than the 0x%x that this "
		 "uniprof knows; it is used %s",
		 xen->host.version, xen->host.domctl_version, DOMCTL_NEWEST,
		 force ? "unchecked (--force)" : "because its answers fit");
	xen->check_answers = !force;
	return newer_check(xen, 0, err);
}

/* Xen refuses a domctl of another version with EACCES, before it checks anything else. */
int xen_find_domctl_version(struct xen *xen, bool force, struct error *err)
{
	for (uint32_t version = DOMCTL_OLDEST; version <= DOMCTL_BEYOND; version++) {
		struct xen_domctl domctl;
		int status;

		xen->host.domctl_version = version;
		xen_domctl_init(xen, &domctl, XEN_DOMCTL_getdomaininfo, 0);
		status = xen_domctl(xen, &domctl);
		if (status == -EACCES)
			continue;
		if (status == -EPERM || status == -ENOSYS)
			return error_set(err,
					 "%s does not let this domain control others: "
					 "run uniprof in dom0",
					 xen->host.version);
		if (status < 0)
			return error_errno(err, -status, "%s refuses domctl calls",
					   xen->host.version);
		return check_version(xen, force, err);
	}
	return error_set(err,
			 "%s accepts none of the domctl interface versions 0x%x to "
			 "0x%x",
			 xen->host.version, DOMCTL_OLDEST, DOMCTL_BEYOND);
}

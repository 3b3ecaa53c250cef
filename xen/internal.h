/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_INTERNAL_H
#define UNIPROF_XEN_INTERNAL_H

#define __XEN_TOOLS__ 1
#include <stdint.h>
#include <xen/xen.h>
#include <xen/domctl.h>
#include <xen/sched.h>

#include "guest/host.h"
#include "xen/library.h"
#include "xen/xen.h"

struct pause;

/*
 * uniprof uses only domctls whose layout has not changed since interface version 0xb
 * (Xen 4.7); of struct xen_domctl_getdomaininfo, only the fields before ssidref, and the
 * handle. tests/unit/xen/test_xen_abi.c checks the installed headers.
 */
struct xen {
	struct host host;
	struct xen_library lib;
	xencall_handle *call;
	struct xs_handle *store; /* NULL if xenstore can't be reached */
	bool store_stuck;    /* a thread waits for @store forever, and uses this struct */
	bool check_answers;  /* the domctl version is newer than known (xen/newer.h) */
	void *scratch;	     /* a hypercall-safe page, for calls outside of sampling */
	struct pause *pause; /* NULL until the host is armed */
};

static inline struct xen *xen_of(struct host *host)
{
	return (struct xen *)host;
}

/*
 * Detects the version of the domctl interface that the hypervisor accepts, and sets
 * host.domctl_version. If it is newer than the known ones, sets host.note, and unless
 * @force is set, checks its answers. -1 with the reason in @err if none can be used.
 */
int xen_find_domctl_version(struct xen *xen, bool force, struct error *err);

/* In xen/calls.c: the system calls made, and the types of all requests of Xen's drivers:
 * privcmd, evtchn and gntdev (include/uapi/xen/). */
#define XEN_REQUESTS "PEG"
extern const struct host_needs xen_needs;

/* The functions of struct host_ops, in xen/domain.c, xen/pause.c and xen/guest_ops.c. */
int xen_domain_info(struct host *host, uint32_t id, struct guest_info *info,
		    struct error *err);
int xen_domain_list(struct host *host, struct guest_info **guests, size_t *count,
		    struct error *err);
int xen_arm(struct host *host, struct error *err);
int xen_adopt(struct host *host, struct error *err);
uint64_t xen_paused_since(const struct host *host);
int xen_resume(struct host *host, struct error *err);
int xen_find_left(struct host *host, struct guest_info **guests, size_t *count,
		  struct error *err);
int xen_unpause_left(struct host *host, const struct guest_info *info, struct error *err);
struct guest *xen_guest_open(struct host *host, const struct guest_info *info,
			     const bool *wanted, struct error *err);

/* Whether a domain can be sampled: not domain 0. 0, or -1 with the reason in @err. */
int xen_domain_check(const struct guest_info *info, struct error *err);

/* Whether a domain is a PV guest of 32 bits, whose contexts have another layout. */
bool xen_domain_is_pv_32(struct xen *xen, const struct guest_info *info);

#endif

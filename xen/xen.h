/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_XEN_H
#define UNIPROF_XEN_XEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/guest.h"

/* The hypervisor that this program runs on, from a domain that may control
 * others: dom0, most often. */
struct xen;

/*
 * Opens the hypercall and foreign-memory interfaces and finds out which version
 * of the domctl interface the hypervisor speaks. NULL, with what is missing in
 * @err, when there is no Xen, no permission, or no version that fits.
 */
struct xen *xen_open(struct error *err);
void xen_close(struct xen *xen);

/* The hypervisor's version, as "Xen 4.17.7"; belongs to @xen. */
const char *xen_version(const struct xen *xen);
uint32_t xen_domctl_version(const struct xen *xen);

struct xen_domain {
	uint32_t id;
	enum guest_type type;
	uint32_t vcpus;	 /* how many it can have */
	uint32_t online; /* how many are up */
	uint64_t memory; /* bytes */
	bool dying, shutdown, paused, running, blocked;
	uint8_t uuid[16];
	char name[256]; /* empty when it has none */
};

/* 0; 1 when there is no such domain; -1, and why in @err. */
int xen_domain_info(struct xen *xen, uint32_t id, struct xen_domain *domain,
		    struct error *err);

/* Finds a domain by its name or, for digits only, by its id. -1 when there is
 * none. */
int xen_domain_find(struct xen *xen, const char *name, struct xen_domain *domain,
		    struct error *err);

/* All domains, dom0 among them, by id. The array is the caller's to free(). */
int xen_domain_list(struct xen *xen, struct xen_domain **domains, size_t *count,
		    struct error *err);

/*
 * Whether @domain is one that can be sampled: not domain 0, and no PV guest of
 * 32 bits. 0, or -1 and why not.
 */
int xen_domain_check(struct xen *xen, const struct xen_domain *domain, struct error *err);

#endif

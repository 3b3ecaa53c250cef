/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_HYPERCALL_H
#define UNIPROF_XEN_HYPERCALL_H

#include "xen/internal.h"

/* Memory that hypercalls can use without ever faulting. */
struct hypercall_memory {
	void *data;	   /* NULL: not allocated */
	size_t pages;	   /* size, pages of 4 KiB */
	bool from_library; /* allocated by Xen's library */
};

/* Allocates @size bytes, filled with zeros: 0, or -1 with the reason in @err. */
int hypercall_memory_get(struct xen *xen, struct hypercall_memory *memory, size_t size,
			 struct error *err);
/* Allocates memory as hypercall_memory_get() does, shared with children after fork(). */
int hypercall_memory_share(struct xen *xen, struct hypercall_memory *memory, size_t size,
			   struct error *err);
/* Frees the memory, if it was allocated. */
void hypercall_memory_put(struct xen *xen, struct hypercall_memory *memory);

/* Sets the fields that every domctl has. */
void xen_domctl_init(const struct xen *xen, struct xen_domctl *domctl, uint32_t command,
		     uint32_t domain);

/* Makes one call, with the results in @domctl: 0, or -errno. Not during a pause. */
int xen_domctl(struct xen *xen, struct xen_domctl *domctl);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_MEMORY_H
#define UNIPROF_XEN_MEMORY_H

#include "xen/internal.h"

/* Zeroed memory that hypercalls can use without ever faulting. */
struct hypercall_memory {
	void *data;
	size_t pages;
	bool from_library;
};

int hypercall_memory_get(struct xen *xen, struct hypercall_memory *memory, size_t size,
			 struct error *err);
/* The same, but shared with children after fork(). */
int hypercall_memory_share(struct xen *xen, struct hypercall_memory *memory, size_t size,
			   struct error *err);
void hypercall_memory_put(struct xen *xen, struct hypercall_memory *memory);

#endif

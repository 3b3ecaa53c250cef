/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_MEMORY_H
#define UNIPROF_XEN_MEMORY_H

#include "xen/internal.h"

/*
 * Memory that hypercalls can use without ever faulting and that is still the
 * same memory in a child after fork(). Zeroed.
 */
struct shared_memory {
	void *data;
	size_t pages;
	bool from_library;
};

int shared_memory_get(struct xen *xen, struct shared_memory *memory, size_t size,
		      struct error *err);
void shared_memory_put(struct xen *xen, struct shared_memory *memory);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/clock.h"
#include "tests/bench/ways.h"
#include "xen/hypercall.h"
#include "xen/internal.h"

struct floor {
	struct xen *xen;
	struct hypercall_memory memory;
	multicall_entry_t *entry;
	struct xen_domctl *domctl;
	struct xen_domctl *resume;
	unsigned int count;
};

struct floor *floor_new(struct host *host, const struct guest_info *domain,
			struct error *err)
{
	struct floor *way = calloc(1, sizeof(*way));
	struct xen *xen = xen_of(host);
	unsigned int count = 1 + domain->online;
	vcpu_guest_context_t *context;

	if (!way) {
		error_set(err, "out of memory");
		return NULL;
	}
	if (hypercall_memory_get(xen, &way->memory,
				 count * sizeof(*way->entry) +
					 (count + 1) * sizeof(*way->domctl) +
					 domain->online * sizeof(*context),
				 err) < 0) {
		free(way);
		return NULL;
	}
	way->xen = xen;
	way->count = count;
	way->entry = way->memory.data;
	way->domctl = (void *)(way->entry + count);
	way->resume = way->domctl + count;
	context = (void *)(way->resume + 1);
	for (unsigned int i = 0; i < count; i++) {
		xen_domctl_init(xen, &way->domctl[i],
				i ? XEN_DOMCTL_getvcpucontext : XEN_DOMCTL_pausedomain,
				domain->id);
		if (!i)
			continue;
		way->domctl[i].u.vcpucontext.vcpu = i - 1;
		set_xen_guest_handle_raw(way->domctl[i].u.vcpucontext.ctxt,
					 &context[i - 1]);
	}
	xen_domctl_init(xen, way->resume, XEN_DOMCTL_unpausedomain, domain->id);
	return way;
}

void floor_free(struct floor *way)
{
	if (!way)
		return;
	hypercall_memory_put(way->xen, &way->memory);
	free(way);
}

uint64_t floor_sample(struct floor *way)
{
	uint64_t start;

	/* Xen may have overwritten the entries. */
	for (unsigned int i = 0; i < way->count; i++) {
		way->entry[i].op = __HYPERVISOR_domctl;
		way->entry[i].args[0] = (xen_ulong_t)(uintptr_t)&way->domctl[i];
	}
	start = clock_monotonic();
	way->xen->lib.call2(way->xen->call, __HYPERVISOR_multicall,
			    (uint64_t)(uintptr_t)way->entry, way->count);
	way->xen->lib.call1(way->xen->call, __HYPERVISOR_domctl,
			    (uint64_t)(uintptr_t)way->resume);
	return clock_monotonic() - start;
}

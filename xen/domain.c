/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/text.h"
#include "xen/hypercall.h"
#include "xen/internal.h"
#include "xen/store.h"

/* The hypervisor only distinguishes PV guests from others. Whether another guest has a
 * device model (HVM) or not (PVH) is recorded in xenstore, where dom0 has no entry. */
static enum guest_type type_of(uint32_t flags, const struct store_entry *entry)
{
	if (!(flags & XEN_DOMINF_hvm_guest))
		return GUEST_PV;
	return strcmp(entry->type, "pvh") == 0 || entry->id == 0 ? GUEST_PVH : GUEST_HVM;
}

/* Describes a domain: 0; 1 if there is none with the entry's id; -1 with the reason in
 * @err. */
static int describe_domain(struct xen *xen, const struct store_entry *entry,
			   struct guest_info *info, struct error *err)
{
	const struct xen_domctl_getdomaininfo *answer;
	struct xen_domctl domctl;
	uint32_t id = entry->id;
	int status;

	if (id >= DOMID_FIRST_RESERVED)
		return 1;
	xen_domctl_init(xen, &domctl, XEN_DOMCTL_getdomaininfo, id);
	status = xen_domctl(xen, &domctl);
	answer = &domctl.u.getdomaininfo;
	/* Before 4.18, Xen returned the next existing domain. */
	if (status == -ESRCH || (status == 0 && answer->domain != id))
		return 1;
	if (status < 0)
		return error_errno(err, -status, "can't query domain %u", id);
	*info = (struct guest_info){
		.id = id,
		.type = type_of(answer->flags, entry),
		.vcpus = answer->max_vcpu_id == XEN_INVALID_MAX_VCPU_ID
				 ? 0
				 : answer->max_vcpu_id + 1,
		.online = answer->nr_online_vcpus,
		.memory = answer->tot_pages << GUEST_PAGE_SHIFT,
		.ran = answer->cpu_time,
		.dying = answer->flags & XEN_DOMINF_dying,
		.shutdown = answer->flags & XEN_DOMINF_shutdown,
		.paused = answer->flags & XEN_DOMINF_paused,
		.running = answer->flags & XEN_DOMINF_running,
		.blocked = answer->flags & XEN_DOMINF_blocked,
	};
	memcpy(info->uuid, answer->handle, sizeof(info->uuid));
	text_clean(info->name, entry->name);
	return 0;
}

int xen_domain_info(struct host *host, uint32_t id, struct guest_info *info,
		    struct error *err)
{
	struct store_entry entry;

	/* Without xenstore, a domain has no name, but can still be sampled. */
	if (store_find(xen_of(host), id, &entry, err) < 0)
		entry = (struct store_entry){.id = id};
	return describe_domain(xen_of(host), &entry, info, err);
}

int xen_domain_list(struct host *host, struct guest_info **guests, size_t *count,
		    struct error *err)
{
	struct store_entry *entries;
	size_t known;
	int status = 0;

	if (store_list(xen_of(host), &entries, &known, err) < 0)
		return -1;
	*count = 0;
	*guests = guest_infos_new(err);
	if (!*guests)
		status = -1;
	for (size_t i = 0; i < known && status >= 0; i++) {
		struct guest_info info;

		status = describe_domain(xen_of(host), &entries[i], &info, err);
		/* A domain that is not there has just ended. */
		if (status == 0 && !guest_infos_add(guests, count, &info))
			status = error_set(err, "out of memory");
	}
	free(entries);
	if (status < 0) {
		free(*guests);
		return -1;
	}
	guest_infos_sort(*guests, *count);
	return 0;
}

int xen_domain_check(const struct guest_info *info, struct error *err)
{
	if (info->id == 0)
		return error_set(err, "can't sample domain 0: uniprof itself runs there "
				      "and would be paused with it");
	if (!info->vcpus)
		return error_set(err, "domain %u (%s) has no vCPUs yet", info->id,
				 info->name);
	return 0;
}

bool xen_domain_is_pv_32(struct xen *xen, const struct guest_info *info)
{
	struct xen_domctl domctl;

	if (info->type != GUEST_PV)
		return false;
	/* ENOSYS on ARM, where there are no PV guests. */
	xen_domctl_init(xen, &domctl, XEN_DOMCTL_get_address_size, info->id);
	return xen_domctl(xen, &domctl) == 0 && domctl.u.address_size.size == 32;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/open.h"

#include <stdio.h>
#include <stdlib.h>

#include "gdb/address.h"
#include "gdb/gdb.h"
#include "kvm/kvm.h"
#include "xen/xen.h"

/* The hypervisors in the order in which they are tried: a machine that has both runs
 * Xen's domains, or is itself a guest of Xen with guests of KVM. */
static const struct hypervisor *const hypervisors[] = {
	&xen_hypervisor,
	&kvm_hypervisor,
	NULL,
};

const struct hypervisor *const *host_hypervisors(void)
{
	return hypervisors;
}

int host_check_gdb(const char *gdb, struct error *err)
{
	return gdb_address_check(gdb, err);
}

struct host *host_open(const char *gdb, bool force, struct error *err)
{
	struct host *host = NULL;
	bool any = false;

	if (gdb)
		return gdb_open(gdb, NULL, err);
	for (size_t i = 0; hypervisors[i] && !host; i++) {
		struct error later;

		if (!hypervisors[i]->exists())
			continue;
		/* The reason of the first hypervisor is reported. */
		host = hypervisors[i]->open(force, any ? &later : err);
		any = true;
	}
	if (!any)
		error_set(err,
			  "neither Xen nor KVM is running here (/dev/xen/privcmd and "
			  "/dev/kvm are missing): run uniprof in dom0 of a Xen host, "
			  "or on a KVM host");
	return host;
}

/* Finds a guest with a stub, by its name or id: 0, or -1. */
static int find_stub(const char *guest, struct guest_info *info)
{
	struct guest_info *guests;
	struct error ignored;
	size_t count;
	int status = -1;

	if (kvm_stub_list(&guests, &count, &ignored) < 0)
		return -1;
	for (size_t i = 0; i < count && status < 0; i++) {
		if (!guest_info_matches(&guests[i], guest))
			continue;
		*info = guests[i];
		status = 0;
	}
	free(guests);
	return status;
}

static struct host *open_stub(const struct guest_info *info, const struct kvm_stub *stub,
			      struct error *err)
{
	const struct gdb_identity identity = {
		.id = info->id,
		.name = info->name,
		.qemus_name = stub->name,
	};

	return gdb_open(stub->address, &identity, err);
}

struct host *host_open_guest(const char *guest, bool force, struct host_stub *used,
			     struct error *err)
{
	struct host *host = host_open(NULL, force, err);
	struct guest_info info;
	struct error ignored;
	struct kvm_stub stub;

	used->address[0] = 0;
	if (!guest || (host && !host->ops->has_vmms))
		return host;
	/* A guest that KVM knows comes before any other guest with this name. */
	if ((!host || host_find(host, guest, &info, &ignored) < 0) &&
	    find_stub(guest, &info) < 0)
		return host;
	if (kvm_stub_find(info.id, &stub) < 0 || kvm_permits(info.id, &used->why) == 0)
		return host;
	snprintf(used->address, sizeof(used->address), "%s", stub.address);
	host_close(host);
	return open_stub(&info, &stub, err);
}

static struct guest_info *guest_of_id(struct guest_info *guests, size_t count,
				      uint32_t id)
{
	for (size_t i = 0; i < count; i++)
		if (guests[i].id == id)
			return &guests[i];
	return NULL;
}

/* Adds guests that the array lacks, or has as hidden. */
static int add_guests(struct guest_info **guests, size_t *count,
		      const struct guest_info *more, size_t more_count, struct error *err)
{
	size_t known = *count;

	for (size_t i = 0; i < more_count; i++) {
		struct guest_info *guest = guest_of_id(*guests, known, more[i].id);

		if (guest && guest->is_hidden)
			*guest = more[i];
		if (!guest && !guest_infos_add(guests, count, &more[i]))
			return error_set(err, "out of memory");
	}
	return 0;
}

/* Adds the guests that @list returns, and sorts the array. */
static int add_list(struct guest_info **guests, size_t *count,
		    int (*list)(struct guest_info **more, size_t *count,
				struct error *err),
		    struct error *err)
{
	struct guest_info *more;
	size_t more_count;
	int status;

	if (list(&more, &more_count, err) < 0)
		return -1;
	status = add_guests(guests, count, more, more_count, err);
	free(more);
	guest_infos_sort(*guests, *count);
	return status;
}

static int list_domains(struct guest_info **guests, size_t *count, struct error *err)
{
	struct host *host = xen_hypervisor.open(false, err);
	int status = host ? host->ops->list(host, guests, count, err) : -1;

	host_close(host);
	return status;
}

int host_list_once(struct guest_info **guests, size_t *count, struct error *err)
{
	int status;

	if (xen_hypervisor.exists())
		return list_domains(guests, count, err);
	status = kvm_vmm_list(guests, count, err);
	if (status == 0 && add_list(guests, count, kvm_stub_list, err) < 0) {
		free(*guests);
		status = -1;
	}
	return status;
}

int host_list(struct host *host, struct guest_info **guests, size_t *count,
	      struct error *err)
{
	struct error why;

	if (host && host->ops->list(host, guests, count, err) < 0)
		return -1;
	if (host && !host->ops->has_vmms)
		return 0;
	if (!host) {
		*guests = NULL;
		*count = 0;
	}
	/* Without a host, @err has the reason for that. */
	if (!host)
		err = &why;
	if (add_list(guests, count, kvm_stub_list, err) == 0 &&
	    add_list(guests, count, kvm_mute_list, err) == 0 && (host || *count))
		return 0;
	free(*guests);
	return -1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arch.h"
#include "xen/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a xenstore node into @text, empty when it is not there. */
static void read_store(struct xen *xen, char *text, size_t size, const char *format,
		       uint32_t id)
{
	char path[64];
	unsigned int length = 0;
	char *value;

	text[0] = 0;
	if (!xen->store)
		return;
	snprintf(path, sizeof(path), format, id);
	value = xen->lib.store_read(xen->store, 0, path, &length);
	if (!value)
		return;
	snprintf(text, size, "%.*s", (int)length, value);
	free(value);
}

/* The hypervisor knows PV from the rest; whether a guest of the other kind has a
 * device model (HVM) or not (PVH) is for the toolstack's books, where dom0 has no entry. */
static enum guest_type type_of(struct xen *xen, uint32_t id, uint32_t flags)
{
	char type[8];

	if (!(flags & XEN_DOMINF_hvm_guest))
		return GUEST_PV;
	read_store(xen, type, sizeof(type), "/libxl/%u/type", id);
	return strcmp(type, "pvh") == 0 || id == 0 ? GUEST_PVH : GUEST_HVM;
}

int xen_domain_info(struct xen *xen, uint32_t id, struct xen_domain *domain,
		    struct error *err)
{
	const struct xen_domctl_getdomaininfo *info;
	struct xen_domctl domctl;
	int status;

	xen_domctl_init(xen, &domctl, XEN_DOMCTL_getdomaininfo, id);
	status = xen_domctl(xen, &domctl);
	info = &domctl.u.getdomaininfo;
	/* Before 4.19, Xen answered with the next domain that there is. */
	if (status == -ESRCH || (status == 0 && info->domain != id))
		return 1;
	if (status < 0)
		return error_errno(err, -status, "can't ask Xen about domain %u", id);
	*domain = (struct xen_domain){
		.id = id,
		.type = type_of(xen, id, info->flags),
		.vcpus = info->max_vcpu_id == XEN_INVALID_MAX_VCPU_ID
				 ? 0
				 : info->max_vcpu_id + 1,
		.online = info->nr_online_vcpus,
		.memory = info->tot_pages << GUEST_PAGE_SHIFT,
		.dying = info->flags & XEN_DOMINF_dying,
		.shutdown = info->flags & XEN_DOMINF_shutdown,
		.paused = info->flags & XEN_DOMINF_paused,
		.running = info->flags & XEN_DOMINF_running,
		.blocked = info->flags & XEN_DOMINF_blocked,
	};
	memcpy(domain->uuid, info->handle, sizeof(domain->uuid));
	read_store(xen, domain->name, sizeof(domain->name), "/local/domain/%u/name", id);
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The ids that xenstore knows, sorted; the caller's to free(). */
static int list_ids(struct xen *xen, uint32_t **ids, size_t *count, struct error *err)
{
	unsigned int entries = 0;
	char **directory;

	if (!xen->store)
		return error_set(err, "can't reach xenstore, which knows the domains: is "
				      "xenstored running?");
	directory = xen->lib.store_directory(xen->store, 0, "/local/domain", &entries);
	if (!directory)
		return error_errno(err, errno, "can't list domains in xenstore");
	*ids = malloc((entries + 1) * sizeof(**ids));
	*count = 0;
	for (unsigned int i = 0; *ids && i < entries; i++)
		(*ids)[(*count)++] = (uint32_t)strtoul(directory[i], NULL, 10);
	free(directory);
	if (!*ids)
		return error_set(err, "not enough memory");
	qsort(*ids, *count, sizeof(**ids), compare_ids);
	return 0;
}

int xen_domain_list(struct xen *xen, struct xen_domain **domains, size_t *count,
		    struct error *err)
{
	size_t known;
	uint32_t *ids;
	int status = -1;

	if (list_ids(xen, &ids, &known, err) < 0)
		return -1;
	*count = 0;
	*domains = malloc((known + 1) * sizeof(**domains));
	if (!*domains) {
		error_set(err, "not enough memory");
		goto out;
	}
	for (size_t i = 0; i < known; i++) {
		status = xen_domain_info(xen, ids[i], &(*domains)[*count], err);
		if (status < 0) {
			free(*domains);
			goto out;
		}
		*count += status == 0; /* else it has just ended */
	}
	status = 0;
out:
	free(ids);
	return status;
}

/* Digits only; -1 for what is no domain id. */
static long parse_id(const char *name)
{
	char *end;
	long id;

	if (name[0] < '0' || name[0] > '9')
		return -1;
	id = strtol(name, &end, 10);
	return *end || id >= DOMID_FIRST_RESERVED ? -1 : id;
}

int xen_domain_find(struct xen *xen, const char *name, struct xen_domain *domain,
		    struct error *err)
{
	struct xen_domain *domains;
	long id = parse_id(name);
	size_t count;
	int status = 1;

	if (id >= 0) {
		status = xen_domain_info(xen, (uint32_t)id, domain, err);
		goto out;
	}
	if (xen_domain_list(xen, &domains, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count && status; i++) {
		if (strcmp(domains[i].name, name) == 0) {
			*domain = domains[i];
			status = 0;
		}
	}
	free(domains);
out:
	if (status > 0)
		return error_set(err, "there is no domain '%s' (uniprof list shows them)",
				 name);
	return status;
}

int xen_domain_check(struct xen *xen, const struct xen_domain *domain, struct error *err)
{
	struct xen_domctl domctl;
	int status;

	if (domain->id == 0)
		return error_set(err, "domain 0 can't be sampled: uniprof itself runs "
				      "there, and would stop with it");
	if (!domain->vcpus)
		return error_set(err, "domain %u (%s) has no vCPU yet", domain->id,
				 domain->name);
	if (domain->type != GUEST_PV)
		return 0;
	/* ENOSYS on ARM, where no guest is a PV one. */
	xen_domctl_init(xen, &domctl, XEN_DOMCTL_get_address_size, domain->id);
	status = xen_domctl(xen, &domctl);
	if (status == 0 && domctl.u.address_size.size == 32)
		return error_set(err,
				 "domain %u (%s) is a 32-bit PV guest, a kind that "
				 "uniprof does not sample",
				 domain->id, domain->name);
	return 0;
}

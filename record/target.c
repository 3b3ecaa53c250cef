/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

/* The vCPUs that were asked for, one bool each: 0, or -1. */
static int choose_vcpus(const struct xen_domain *domain, const char *list, bool *wanted,
			struct error *err)
{
	if (parse_list(list, wanted, domain->vcpus) == 0)
		return 0;
	return error_set(err,
			 "'%s' is no list of vCPUs of domain '%s', which has 0 to %u",
			 list, domain->name, domain->vcpus - 1);
}

int target_open(struct target *target, struct xen *xen, const struct xen_domain *domain,
		const char *vcpus, uint32_t index, uint64_t period, struct error *err)
{
	bool *wanted = NULL;
	int status = -1;

	*target = (struct target){.domain = *domain};
	if (xen_domain_check(xen, domain, err) < 0)
		return -1;
	if (vcpus) {
		wanted = calloc(domain->vcpus, sizeof(*wanted));
		if (!wanted)
			return error_set(err, "not enough memory");
		if (choose_vcpus(domain, vcpus, wanted, err) < 0)
			goto out;
	}
	target->capture = capture_new(xen, domain, wanted, err);
	if (!target->capture)
		goto out;
	target->guard = guard_start(target->capture, err);
	if (!target->guard)
		goto out;
	target->pages = pages_new(xen, domain->id, err);
	if (!target->pages)
		goto out;
	target->sampler = sampler_new(target->capture, target->pages, index, period, err);
	if (target->sampler)
		status = 0;
out:
	free(wanted);
	if (status < 0)
		target_close(target);
	return status;
}

void target_close(struct target *target)
{
	sampler_free(target->sampler);
	pages_free(target->pages);
	guard_stop(target->guard);
	capture_free(target->capture);
	*target = (struct target){.domain = target->domain};
}

void target_describe(const struct target *target, struct recording_domain *description)
{
	const struct xen_domain *domain = &target->domain;

	*description = (struct recording_domain){
		.index = sampler_index(target->sampler),
		.id = domain->id,
		.type = domain->type,
		.cpu = capture_kind(target->capture),
		.vcpus = domain->vcpus,
	};
	description->word = description->cpu == CPU_X86_32 ||
					    description->cpu == CPU_ARM32
				    ? 4
				    : 8;
	snprintf(description->name, sizeof(description->name), "%s", domain->name);
	memcpy(description->uuid, domain->uuid, sizeof(description->uuid));
}

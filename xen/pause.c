/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/pause.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* A result that stands until Xen has made the call and written the real one. */
#define NOT_CALLED ((xen_ulong_t)0x6e6f74796574)

int batch_call(struct xen *xen, const struct batch *batch, unsigned int first)
{
	int status;

	for (unsigned int i = first; i < batch->count; i++) {
		batch->entry[i].op = __HYPERVISOR_domctl;
		batch->entry[i].args[0] = (xen_ulong_t)(uintptr_t)&batch->domctl[i];
	}
	status = xen->lib.call2(xen->call, __HYPERVISOR_multicall,
				(uint64_t)(uintptr_t)&batch->entry[first],
				batch->count - first);

	return status < 0 ? -errno : 0;
}

int xen_arm(struct host *host, struct error *err)
{
	struct xen *xen = xen_of(host);
	struct pause *pause = calloc(1, sizeof(*pause));
	size_t size = (2 + PAUSE_OBSERVED_MAX + PAUSE_VCPUS_MAX) * sizeof(*pause->entry) +
		      sizeof(*pause->resume_domctl) + sizeof(*pause->since);

	if (!pause)
		return error_set(err, "out of memory");
	if (hypercall_memory_share(xen, &pause->memory, size, err) < 0) {
		free(pause);
		return -1;
	}
	pause->resume = pause->memory.data;
	pause->entry = pause->resume + 1 + PAUSE_OBSERVED_MAX;
	pause->resume_domctl = (void *)(pause->entry + 1 + PAUSE_VCPUS_MAX);
	pause->since = (void *)(pause->resume_domctl + 1);
	pause->entry[0].result = NOT_CALLED;
	pause->left = left_new(HOST_DIRECTORY);
	xen->pause = pause;
	return 0;
}

void pause_free(struct xen *xen)
{
	if (!xen->pause)
		return;
	left_free(xen->pause->left);
	hypercall_memory_put(xen, &xen->pause->memory);
	free(xen->pause);
	xen->pause = NULL;
}

void pause_prepare(struct xen *xen, const struct left_domain *domain)
{
	left_prepare(xen->pause->left, domain);
	xen_domctl_init(xen, xen->pause->resume_domctl, XEN_DOMCTL_unpausedomain,
			domain->id);
}

/* In this order of stores, a domain never seems to be paused in between. */
void pause_begin(struct pause *pause)
{
	__atomic_store_n(&pause->entry[0].result, NOT_CALLED, __ATOMIC_SEQ_CST);
	__atomic_store_n(pause->since, clock_monotonic(), __ATOMIC_SEQ_CST);
	__atomic_store_n(&pause->resume->result, NOT_CALLED, __ATOMIC_SEQ_CST);
	left_set(pause->left, true);
}

void pause_failed(struct pause *pause)
{
	left_set(pause->left, false);
}

int pause_end(struct xen *xen, struct error *err)
{
	const struct batch resume = {xen->pause->resume, xen->pause->resume_domctl, 1};
	int status = batch_call(xen, &resume, 0);

	if (status == 0)
		status = batch_result(&resume, 0);
	if (status < 0 && status != -ESRCH && status != -EINVAL)
		return error_errno(err, -status, "can't unpause domain %u",
				   resume.domctl->domain);
	left_set(xen->pause->left, false);
	/* EINVAL: someone else has ended this pause, and the domain runs. */
	return status == -ESRCH;
}

uint64_t xen_paused_since(const struct host *host)
{
	const struct pause *pause = ((const struct xen *)host)->pause;
	xen_ulong_t paused, resumed;

	paused = __atomic_load_n(&pause->entry[0].result, __ATOMIC_SEQ_CST);
	resumed = __atomic_load_n(&pause->resume->result, __ATOMIC_SEQ_CST);
	if (paused != 0 || resumed != NOT_CALLED)
		return 0;
	return __atomic_load_n(pause->since, __ATOMIC_SEQ_CST);
}

int xen_resume(struct host *host, struct error *err)
{
	return pause_end(xen_of(host), err) < 0 ? -1 : 0;
}

/* Hypercall handles can't be inherited. */
int xen_adopt(struct host *host, struct error *err)
{
	struct xen *xen = xen_of(host);

	xen->call = xen->lib.call_open(xen_library_silence(), 0);
	if (!xen->call)
		return error_errno(err, errno, "can't open Xen's hypercall interface");
	return 0;
}

/* A visit of the files about domains that were left paused. */
struct search {
	struct xen *xen;
	const struct guest_info
		*wanted; /* the domain to unpause; NULL: all are collected */
	struct guest_info *found;
	size_t count; /* domains found, or pauses ended */
	int failure;  /* an errno */
};

/* Whether the domain is the one that was left, is paused, and has not run since;
 * otherwise the file is out of date. */
static bool is_still_paused(struct xen *xen, const struct left_domain *left,
			    struct guest_info *info)
{
	struct error ignored;

	return xen_domain_info(&xen->host, left->id, info, &ignored) == 0 &&
	       memcmp(info->uuid, left->uuid, sizeof(info->uuid)) == 0 && info->paused &&
	       info->ran <= left->ran;
}

static bool collect_left(void *context, const struct left_domain *left)
{
	struct search *search = context;
	struct guest_info info;

	if (!is_still_paused(search->xen, left, &info))
		return false;
	if (!guest_infos_add(&search->found, &search->count, &info))
		search->failure = ENOMEM;
	return true;
}

int xen_find_left(struct host *host, struct guest_info **guests, size_t *count,
		  struct error *err)
{
	struct search search = {.xen = xen_of(host)};

	left_visit(HOST_DIRECTORY, collect_left, &search);
	if (search.failure) {
		free(search.found);
		return error_errno(err, search.failure, "can't look for paused domains");
	}
	*guests = search.found;
	*count = search.count;
	return 0;
}

static bool unpause_wanted(void *context, const struct left_domain *left)
{
	struct search *search = context;
	struct xen_domctl domctl;
	struct guest_info info;
	int status;

	if (!is_still_paused(search->xen, left, &info))
		return false;
	if (info.id != search->wanted->id ||
	    memcmp(info.uuid, search->wanted->uuid, sizeof(info.uuid)) != 0)
		return true;
	xen_domctl_init(search->xen, &domctl, XEN_DOMCTL_unpausedomain, info.id);
	status = xen_domctl(search->xen, &domctl);
	search->failure = -status;
	search->count += status == 0;
	return status < 0;
}

int xen_unpause_left(struct host *host, const struct guest_info *info, struct error *err)
{
	struct search search = {.xen = xen_of(host), .wanted = info};

	left_visit(HOST_DIRECTORY, unpause_wanted, &search);
	if (search.failure)
		return error_errno(err, search.failure, "can't unpause domain %u",
				   info->id);
	return search.count ? 0 : 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/newer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <xen/version.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "xen/hypercall.h"
#include "xen/pause.h"

/* How often to compare at most: a domain can change between two calls. */
#define TRIES 3

/* Tolerance for CPU times, ns: the clocks of two CPUs may differ by some microseconds. */
#define CLOCKS_DIFFER (NS_PER_S / 1000)

#define KIB_PER_PAGE (GUEST_PAGE_SIZE / 1024)
/* The most memory that a guest has besides its own, KiB. */
#define BESIDES_KIB (64 << 10)

/* The byte that a register context is filled with, to see how much Xen writes. */
#define UNTOUCHED 0xa5

static bool is_uuid(const char *vm, const uint8_t handle[16])
{
	char text[64];
	int length = snprintf(text, sizeof(text), "/vm/");

	for (unsigned int i = 0; i < 16; i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length, "%s%02x",
				   i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
				   handle[i]);
	return strcmp(vm, text) == 0;
}

/*
 * Whether the memory is between half of the wanted size and a bit more than the largest:
 * a guest may not have reached the wanted size yet, and has some pages besides its
 * memory, such as its graphics card's.
 */
static bool fits_memory(uint64_t pages, const struct store_facts *facts)
{
	uint64_t most = facts->maximum > facts->target ? facts->maximum : facts->target;

	if (!facts->target)
		return true;
	return pages >= facts->target / KIB_PER_PAGE / 2 &&
	       pages <= (most + BESIDES_KIB) / KIB_PER_PAGE;
}

/* Whether the CPU times of the domain and its vCPUs agree: Xen adds up a domain's from
 * its vCPUs', which only grow. */
static bool fits_time(uint32_t id, const struct newer_answers *answers)
{
	if (id == 0 && answers->ran <= CLOCKS_DIFFER)
		return false;
	return answers->before.cpu_time <= answers->ran + CLOCKS_DIFFER &&
	       answers->ran <= answers->after.cpu_time + CLOCKS_DIFFER;
}

/* Whether the domain's type and state fit: domain 0, which asks, is running. */
static bool fits_flags(uint32_t id, uint32_t flags, const char *type)
{
	const uint32_t states = XEN_DOMINF_running | XEN_DOMINF_dying |
				XEN_DOMINF_shutdown | XEN_DOMINF_paused;

	if (id == 0 && (flags & states) != XEN_DOMINF_running)
		return false;
	return !type[0] || !(flags & XEN_DOMINF_hvm_guest) == (strcmp(type, "pv") == 0);
}

const char *newer_misfit(uint32_t id, const struct newer_answers *answers,
			 const struct store_facts *facts)
{
	const struct xen_domctl_getdomaininfo *info = &answers->before;
	uint32_t vcpus = info->max_vcpu_id + 1;

	if (info->domain != id)
		return "its id";
	if (!fits_flags(id, info->flags, facts->type))
		return "its type or state";
	if (!fits_memory(info->tot_pages, facts))
		return "its memory";
	if (facts->vcpus && vcpus != facts->vcpus)
		return "its number of vCPUs";
	if (answers->found > vcpus || info->nr_online_vcpus != answers->online)
		return "its online vCPUs";
	if (answers->odd)
		return "the state of a vCPU";
	if (!fits_time(id, answers))
		return "its CPU time";
	/* The UUID is read last, and so is the first to move if something was added. */
	if (facts->vm[0] && !is_uuid(facts->vm, info->handle))
		return "its UUID";
	return NULL;
}

static int query_domain(struct xen *xen, uint32_t id,
			struct xen_domctl_getdomaininfo *info)
{
	struct xen_domctl domctl;
	int status;

	xen_domctl_init(xen, &domctl, XEN_DOMCTL_getdomaininfo, id);
	status = xen_domctl(xen, &domctl);
	*info = domctl.u.getdomaininfo;
	return status;
}

/* Asks Xen about a domain: 0, or -errno. */
static int query_answers(struct xen *xen, uint32_t id, struct newer_answers *answers)
{
	int status;

	*answers = (struct newer_answers){0};
	status = query_domain(xen, id, &answers->before);
	if (status < 0)
		return status;
	for (uint32_t i = 0; i < PAUSE_VCPUS_MAX && i <= answers->before.max_vcpu_id &&
			     answers->before.max_vcpu_id != XEN_INVALID_MAX_VCPU_ID;
	     i++) {
		const struct xen_domctl_getvcpuinfo *info;
		struct xen_domctl domctl;

		xen_domctl_init(xen, &domctl, XEN_DOMCTL_getvcpuinfo, id);
		domctl.u.getvcpuinfo.vcpu = i;
		if (xen_domctl(xen, &domctl) < 0)
			continue;
		info = &domctl.u.getvcpuinfo;
		answers->found++;
		answers->online += info->online == 1;
		answers->odd |= info->online > 1 || info->blocked > 1 ||
				info->running > 1;
		answers->ran += info->cpu_time;
	}
	return query_domain(xen, id, &answers->after);
}

/* Whether Xen writes as many bytes of a vCPU's registers as are known: neither more,
 * which would overwrite something else, nor less. True if it has no registers to give. */
static bool fits_context(struct xen *xen, uint32_t id)
{
	const size_t size = sizeof(vcpu_guest_context_t);
	struct hypercall_memory memory;
	struct xen_domctl domctl;
	struct error ignored; /* sampling needs such memory too */
	bool fits = true;
	uint8_t *data;
	size_t end;

	if (hypercall_memory_get(xen, &memory, 4 * size, &ignored) < 0)
		return true;
	data = memory.data;
	memset(data, UNTOUCHED, 4 * size);
	xen_domctl_init(xen, &domctl, XEN_DOMCTL_getvcpucontext, id);
	set_xen_guest_handle_raw(domctl.u.vcpucontext.ctxt, (void *)data);
	if (xen_domctl(xen, &domctl) == 0) {
		for (end = 4 * size; end && data[end - 1] == UNTOUCHED;)
			end--;
		fits = end <= size && end > size - sizeof(uint64_t);
	}
	hypercall_memory_put(xen, &memory);
	return fits;
}

/* Returns the first contradiction in the answers; NULL if there is none. */
static const char *find_misfit(struct xen *xen, uint32_t id,
			       const struct store_facts *facts)
{
	const char *misfit = NULL;

	for (int try = 0; try < TRIES; try++) {
		struct newer_answers answers;
		int status = query_answers(xen, id, &answers);

		if (status == -ESRCH && id != 0)
			return NULL; /* the domain has ended, as the caller will see */
		if (status < 0)
			return "its id";
		misfit = newer_misfit(id, &answers, facts);
		if (!misfit)
			break;
	}
	if (!misfit && id != 0 && !fits_context(xen, id))
		misfit = "its registers";
	return misfit;
}

static int refuse_version(struct xen *xen, struct error *err, const char *what)
{
	return error_set(err,
			 "%s has domctl interface version 0x%x, newer than this uniprof "
			 "knows, and %s; update uniprof, or use --force to try it",
			 xen->host.version, xen->host.domctl_version, what);
}

int newer_check(struct xen *xen, uint32_t id, struct error *err)
{
	struct store_facts facts;
	const char *misfit;
	char what[sizeof(err->text)];

	if (!xen->check_answers)
		return 0;
	if (id == 0 && xen->lib.call2(xen->call, __HYPERVISOR_xen_version, XENVER_version,
				      0) <= DOMCTL_RELEASE)
		return refuse_version(xen, err, "its own version does not fit");
	if (store_describe(xen, id, &facts, err) < 0) {
		snprintf(what, sizeof(what), "it can't be checked: %.300s", err->text);
		return refuse_version(xen, err, what);
	}
	misfit = find_misfit(xen, id, &facts);
	if (!misfit)
		return 0;
	snprintf(what, sizeof(what), "its answers for domain %u do not fit: %s", id,
		 misfit);
	return refuse_version(xen, err, what);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "guest/guest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "xen/memory.h"
#include "xen/newer.h"
#include "xen/pages.h"
#include "xen/pause.h"
#include "xen/registers.h"

/* How long after its preparation a pause starts at most, if the host is not overloaded.
 */
#define PAUSE_SOON_NS (NS_PER_S / 20)

struct xen_guest {
	struct guest guest;
	struct xen *xen;
	struct hypercall_memory memory;
	struct batch observe; /* the domain, then each vCPU */
	uint64_t observed;    /* when: ns, monotonic */
	struct batch pause;   /* the pause, then the contexts of the selected vCPUs */
	vcpu_guest_context_t *context; /* of each vCPU */
	bool *wanted;
	unsigned int *target; /* the vCPU of pause.entry[i + 1] */
	struct vcpu_mode *mode;
	struct pages *pages;
};

static struct xen_guest *xen_guest_of(struct guest *guest)
{
	return (struct xen_guest *)guest;
}

static char *carve(char **from, size_t size)
{
	char *at = *from;

	*from += (size + 63) & ~(size_t)63;
	return at;
}

static struct xen_domctl *batch_add(struct xen_guest *guest, struct batch *batch,
				    uint32_t command)
{
	struct xen_domctl *domctl = &batch->domctl[batch->count];

	xen_domctl_init(guest->xen, domctl, command, guest->guest.info.id);
	batch->count++;
	return domctl;
}

static size_t memory_size(size_t vcpus)
{
	return (1 + vcpus) * (sizeof(multicall_entry_t) + 2 * sizeof(struct xen_domctl)) +
	       vcpus * sizeof(vcpu_guest_context_t) + 4 * 64;
}

static void divide_memory(struct xen_guest *guest)
{
	unsigned int vcpus = guest->guest.info.vcpus;
	char *from = guest->memory.data;

	guest->observe.entry = (void *)carve(&from,
					     (1 + vcpus) * sizeof(*guest->observe.entry));
	guest->observe.domctl = (void *)carve(
		&from, (1 + vcpus) * sizeof(*guest->observe.domctl));
	guest->pause.entry = guest->xen->pause->entry;
	guest->pause.domctl = (void *)carve(&from,
					    (1 + vcpus) * sizeof(*guest->pause.domctl));
	guest->context = (void *)carve(&from, vcpus * sizeof(*guest->context));

	batch_add(guest, &guest->observe, XEN_DOMCTL_getdomaininfo);
	for (unsigned int i = 0; i < vcpus; i++)
		batch_add(guest, &guest->observe, XEN_DOMCTL_getvcpuinfo)
			->u.getvcpuinfo.vcpu = i;
	batch_add(guest, &guest->pause, XEN_DOMCTL_pausedomain);
}

static void close_guest(struct guest *closed)
{
	struct xen_guest *guest = xen_guest_of(closed);

	pages_free(guest->pages);
	hypercall_memory_put(guest->xen, &guest->memory);
	free(guest->wanted);
	free(guest->target);
	free(guest->mode);
	free(guest->guest.vcpu);
	free(guest);
}

static enum cpu_kind kind(const struct guest *guest)
{
	const struct xen_guest *of = (const struct xen_guest *)guest;
	enum cpu_kind captured = guest_kind(guest);

	return captured == CPU_UNKNOWN ? registers_kind(guest->info.type, &of->mode[0])
				       : captured;
}

static void observe_vcpu(struct xen_guest *guest, unsigned int i)
{
	const struct xen_domctl_getvcpuinfo *info =
		&guest->observe.domctl[i + 1].u.getvcpuinfo;
	struct guest_vcpu *vcpu = &guest->guest.vcpu[i];

	vcpu->online = batch_result(&guest->observe, i + 1) == 0 && info->online;
	if (!vcpu->online)
		return;
	vcpu->cpu_time = info->cpu_time;
	if (info->running)
		vcpu->state = VCPU_RUNNING;
	else
		vcpu->state = info->blocked ? VCPU_BLOCKED : VCPU_RUNNABLE;
}

static int observe(struct guest *observed, uint64_t now, enum observation *observation,
		   struct error *err)
{
	struct xen_guest *guest = xen_guest_of(observed);
	const struct xen_domctl *domctl = &guest->observe.domctl[0];
	uint32_t id = observed->info.id;
	int status;

	/* Before 4.18, Xen returns another domain if this one is gone. */
	for (unsigned int i = 0; i < guest->observe.count; i++)
		guest->observe.domctl[i].domain = (domid_t)id;
	guest->observed = now;
	status = batch_call(guest->xen, &guest->observe, 0);
	if (status == 0)
		status = batch_result(&guest->observe, 0);
	if (status < 0 && status != -ESRCH)
		return error_errno(err, -status, "can't query domain %u", id);
	if (status == -ESRCH || domctl->u.getdomaininfo.domain != id) {
		*observation = OBSERVED_GONE;
		return 0;
	}
	if (domctl->u.getdomaininfo.flags & (XEN_DOMINF_dying | XEN_DOMINF_shutdown))
		*observation = OBSERVED_SHUT;
	else if (domctl->u.getdomaininfo.flags & XEN_DOMINF_paused)
		*observation = OBSERVED_PAUSED;
	else
		*observation = OBSERVED_RUNNING;
	for (unsigned int i = 0; i < observed->info.vcpus; i++)
		observe_vcpu(guest, i);
	return 0;
}

static const char *ending(const struct guest *ended)
{
	const struct xen_guest *guest = (const struct xen_guest *)ended;
	uint32_t flags = guest->observe.domctl[0].u.getdomaininfo.flags;

	if (flags & XEN_DOMINF_dying)
		return "has ended";
	switch (flags >> XEN_DOMINF_shutdownshift & XEN_DOMINF_shutdownmask) {
	case SHUTDOWN_suspend:
		return "was suspended, to be saved or migrated";
	case SHUTDOWN_reboot:
		return "has rebooted";
	case SHUTDOWN_crash:
	case SHUTDOWN_watchdog:
		return "has crashed";
	default:
		return "has ended";
	}
}

static void choose_vcpus(struct xen_guest *guest)
{
	struct batch *batch = &guest->pause;

	batch->count = 1;
	for (unsigned int i = 0; i < guest->guest.info.vcpus; i++) {
		struct guest_vcpu *vcpu = &guest->guest.vcpu[i];
		struct xen_domctl *domctl;

		vcpu->captured = false;
		if (!guest->wanted[i] || !vcpu->online)
			continue;
		guest->target[batch->count - 1] = i;
		memset(&guest->context[i], 0, sizeof(guest->context[i]));
		domctl = batch_add(guest, batch, XEN_DOMCTL_getvcpucontext);
		domctl->u.vcpucontext.vcpu = i;
		set_xen_guest_handle_raw(domctl->u.vcpucontext.ctxt, &guest->context[i]);
	}
}

static void prepare(struct guest *prepared)
{
	struct xen_guest *guest = xen_guest_of(prepared);
	uint64_t since = clock_monotonic() - guest->observed + PAUSE_SOON_NS;
	struct left_domain domain = {
		.id = prepared->info.id,
		.ran = guest->observe.domctl[0].u.getdomaininfo.cpu_time +
		       since * prepared->info.vcpus,
	};

	choose_vcpus(guest);
	memcpy(domain.uuid, prepared->info.uuid, sizeof(domain.uuid));
	pause_prepare(guest->xen, &domain);
}

static void take_registers(struct xen_guest *guest)
{
	for (unsigned int entry = 1; entry < guest->pause.count; entry++) {
		unsigned int i = guest->target[entry - 1];
		struct guest_vcpu *vcpu = &guest->guest.vcpu[i];

		if (batch_result(&guest->pause, entry) < 0)
			continue;
		vcpu->captured = true;
		registers_take(guest->xen, guest->guest.info.type, &guest->context[i],
			       &guest->mode[i], &vcpu->cpu);
	}
}

static int pause_guest(struct guest *paused, struct error *err)
{
	struct xen_guest *guest = xen_guest_of(paused);
	int status;

	pause_begin(guest->xen->pause);
	status = batch_call(guest->xen, &guest->pause, 0);
	if (!xen_left_paused(&guest->xen->host)) {
		pause_failed(guest->xen->pause);
		if (status == 0)
			status = batch_result(&guest->pause, 0);
		if (status == -ESRCH)
			return 1;
		return error_errno(err, status < 0 ? -status : EIO,
				   "can't pause domain %u", paused->info.id);
	}
	take_registers(guest);
	return 0;
}

static int resume_guest(struct guest *paused, struct error *err)
{
	return pause_end(xen_guest_of(paused)->xen, err);
}

/* Xen's pause does not wait for vCPUs that have no CPU. */
static uint64_t finish(struct guest *guest)
{
	(void)guest;
	return 0;
}

static int take(struct guest *taken, struct error *err)
{
	struct xen_guest *guest = xen_guest_of(taken);
	int status;

	choose_vcpus(guest);
	if (guest->pause.count == 1)
		return 0;
	status = batch_call(guest->xen, &guest->pause, 1);
	if (status < 0)
		return error_errno(err, -status, "can't query domain %u", taken->info.id);
	take_registers(guest);
	return 0;
}

static bool learn_modes(struct guest *learned)
{
	struct xen_guest *guest = xen_guest_of(learned);
	const struct guest_memory memory = {.page = pages_map, .context = guest->pages};
	bool any = false;

	for (unsigned int i = 0; i < learned->info.vcpus; i++) {
		struct guest_vcpu *vcpu = &learned->vcpu[i];

		if (!vcpu->captured)
			continue;
		if (learned->info.type == GUEST_PV)
			any |= registers_learn_segment(&guest->context[i], &memory,
						       &vcpu->cpu, &guest->mode[i]);
		else
			any |= registers_learn_mode(guest->xen, learned->info.id, i,
						    &vcpu->cpu, &guest->mode[i]);
	}
	return any;
}

static const struct guest_ops operations = {
	.close = close_guest,
	.observe = observe,
	.ending = ending,
	.prepare = prepare,
	.pause = pause_guest,
	.resume = resume_guest,
	.finish = finish,
	.take = take,
	.learn_modes = learn_modes,
	.kind = kind,
	.begin_pages = pages_begin,
	.get_page = pages_get,
	.map_page = pages_map,
	.pages_missed = pages_missed,
	.page_misses = pages_misses,
	.are_pages_live = true,
};

static int get_arrays(struct xen_guest *guest, const bool *wanted)
{
	const struct guest_info *info = &guest->guest.info;
	bool is_pv_32 = xen_domain_is_pv_32(guest->xen, info);
	size_t vcpus = info->vcpus;

	guest->wanted = calloc(vcpus, sizeof(*guest->wanted));
	guest->target = calloc(vcpus, sizeof(*guest->target));
	guest->mode = calloc(vcpus, sizeof(*guest->mode));
	guest->guest.vcpu = calloc(vcpus, sizeof(*guest->guest.vcpu));
	if (!guest->wanted || !guest->target || !guest->mode || !guest->guest.vcpu)
		return -1;
	for (size_t i = 0; i < vcpus; i++) {
		guest->wanted[i] = !wanted || wanted[i];
		guest->mode[i].is_pv_32 = is_pv_32;
	}
	return 0;
}

struct guest *xen_guest_open(struct host *host, const struct guest_info *info,
			     const bool *wanted, struct error *err)
{
	struct xen *xen = xen_of(host);
	struct xen_guest *guest;

	if (newer_check(xen, info->id, err) < 0 || xen_domain_check(info, err) < 0)
		return NULL;
	if (info->vcpus > PAUSE_VCPUS_MAX) {
		error_set(err, "domain %u has more than %d vCPUs", info->id,
			  PAUSE_VCPUS_MAX);
		return NULL;
	}
	guest = calloc(1, sizeof(*guest));
	if (!guest) {
		error_set(err, "out of memory");
		return NULL;
	}
	guest->guest.ops = &operations;
	guest->guest.info = *info;
	guest->xen = xen;
	if (get_arrays(guest, wanted) < 0) {
		error_set(err, "out of memory");
		goto fail;
	}
	if (hypercall_memory_get(xen, &guest->memory, memory_size(info->vcpus), err) < 0)
		goto fail;
	divide_memory(guest);
	guest->pages = pages_new(xen, info->id, err);
	if (!guest->pages)
		goto fail;
	guest->guest.memory = guest->pages;
	return &guest->guest;
fail:
	close_guest(&guest->guest);
	return NULL;
}

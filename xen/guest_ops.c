/* SPDX-License-Identifier: BSD-3-Clause */
#include "guest/guest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "xen/hypercall.h"
#include "xen/newer.h"
#include "xen/pages.h"
#include "xen/pause.h"
#include "xen/registers.h"

/* Longest time between the preparation and the start of a pause, if the host is not
 * overloaded, ns. */
#define PAUSE_SOON_NS (NS_PER_S / 20)

/* How long an observation of a running domain holds, ns. A pause that follows sooner
 * observes the vCPUs itself, which saves a call to Xen. */
#define OBSERVATION_LASTS (10 * NS_PER_S / 1000)

struct xen_guest {
	struct guest guest;
	struct xen *xen;
	struct hypercall_memory memory;
	struct batch observe; /* calls about the domain, then about each vCPU */
	uint64_t observed;    /* time of the last observation, ns, monotonic */
	struct batch pause;   /* the pause, then the contexts of the selected vCPUs */
	bool observes;	      /* the next pause observes the vCPUs */
	vcpu_guest_context_t *context; /* one per vCPU */
	unsigned int *target;	       /* element i: the vCPU of pause.entry[i + 1] */
	struct vcpu_mode *mode;	       /* one per vCPU */
	uint64_t *ran; /* CPU time of each vCPU before the last pause, ns; or
			* CPU_TIME_UNKNOWN: it was running */
	bool is_new;   /* the observation is newer than the last pause */
	bool rests;    /* no vCPU has run since the last pause */
	struct pages *pages;
};

static struct xen_guest *xen_guest_of(struct guest *guest)
{
	return (struct xen_guest *)guest;
}

static char *carve_memory(char **from, size_t size)
{
	char *at = *from;

	*from += (size + 63) & ~(size_t)63;
	return at;
}

static struct xen_domctl *batch_add(struct xen_guest *domain, struct batch *batch,
				    uint32_t command)
{
	struct xen_domctl *domctl = &batch->domctl[batch->count];

	xen_domctl_init(domain->xen, domctl, command, domain->guest.info.id);
	batch->count++;
	return domctl;
}

static size_t memory_size(size_t vcpus)
{
	return (1 + vcpus) * (sizeof(multicall_entry_t) + 2 * sizeof(struct xen_domctl)) +
	       vcpus * sizeof(vcpu_guest_context_t) + 4 * 64;
}

static void divide_memory(struct xen_guest *domain)
{
	unsigned int vcpus = domain->guest.info.vcpus;
	char *from = domain->memory.data;

	domain->observe.entry = (void *)carve_memory(
		&from, (1 + vcpus) * sizeof(*domain->observe.entry));
	/* Side by side, so that one multicall can observe the vCPUs and pause them. */
	domain->observe.domctl = (void *)carve_memory(
		&from, 2 * (1 + vcpus) * sizeof(*domain->observe.domctl));
	domain->pause.entry = domain->xen->pause->entry;
	domain->pause.domctl = domain->observe.domctl + 1 + vcpus;
	domain->context = (void *)carve_memory(&from, vcpus * sizeof(*domain->context));

	batch_add(domain, &domain->observe, XEN_DOMCTL_getdomaininfo);
	for (unsigned int i = 0; i < vcpus; i++)
		batch_add(domain, &domain->observe, XEN_DOMCTL_getvcpuinfo)
			->u.getvcpuinfo.vcpu = i;
	batch_add(domain, &domain->pause, XEN_DOMCTL_pausedomain);
}

static void close_guest(struct guest *guest)
{
	struct xen_guest *domain = xen_guest_of(guest);

	pages_free(domain->pages);
	hypercall_memory_put(domain->xen, &domain->memory);
	free(domain->target);
	free(domain->mode);
	free(domain->ran);
	guest_free(guest);
}

static enum cpu_kind kind_of(const struct guest *guest)
{
	const struct xen_guest *domain = (const struct xen_guest *)guest;
	enum cpu_kind captured = guest_kind(guest);

	return captured == CPU_UNKNOWN
		       ? registers_kind(guest->info.type, &domain->mode[0])
		       : captured;
}

/* @calls: the calls about each vCPU */
static void observe_vcpu(struct xen_guest *domain, const struct batch *calls,
			 unsigned int i)
{
	const struct xen_domctl_getvcpuinfo *info = &calls->domctl[i].u.getvcpuinfo;
	struct guest_vcpu *vcpu = &domain->guest.vcpu[i];

	vcpu->online = batch_result(calls, i) == 0 && info->online;
	if (!vcpu->online)
		return;
	vcpu->cpu_time = info->cpu_time;
	if (info->running)
		vcpu->state = VCPU_RUNNING;
	else
		vcpu->state = info->blocked ? VCPU_BLOCKED : VCPU_RUNNABLE;
}

static void observe_vcpus(struct xen_guest *domain, const struct batch *calls)
{
	for (unsigned int i = 0; i < domain->guest.info.vcpus; i++)
		observe_vcpu(domain, calls, i);
}

static bool is_any_running(const struct guest *guest)
{
	for (unsigned int i = 0; i < guest->info.vcpus; i++)
		if (guest->vcpu[i].online && guest->vcpu[i].state == VCPU_RUNNING)
			return true;
	return false;
}

/* Looks at the domain and its vCPUs now. */
static int look_at(struct guest *guest, uint64_t now, enum observation *observation,
		   struct error *err)
{
	struct xen_guest *domain = xen_guest_of(guest);
	const struct xen_domctl *domctl = &domain->observe.domctl[0];
	const struct batch vcpus = {domain->observe.entry + 1, domain->observe.domctl + 1,
				    guest->info.vcpus};
	uint32_t id = guest->info.id;
	int status;

	/* Before 4.18, Xen returns another domain if this one is gone. */
	for (unsigned int i = 0; i < domain->observe.count; i++)
		domain->observe.domctl[i].domain = (domid_t)id;
	domain->observed = now;
	domain->is_new = true;
	status = batch_call(domain->xen, &domain->observe, 0);
	if (status == 0)
		status = batch_result(&domain->observe, 0);
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
	observe_vcpus(domain, &vcpus);
	return 0;
}

static int observe_guest(struct guest *guest, uint64_t now, enum observation *observation,
			 struct error *err)
{
	struct xen_guest *domain = xen_guest_of(guest);

	domain->observes = domain->observed &&
			   now - domain->observed < OBSERVATION_LASTS &&
			   guest->info.vcpus <= PAUSE_OBSERVED_MAX &&
			   is_any_running(guest);
	if (!domain->observes)
		return look_at(guest, now, observation, err);
	*observation = OBSERVED_RUNNING;
	return 0;
}

static const char *ending_of(const struct guest *guest)
{
	const struct xen_guest *domain = (const struct xen_guest *)guest;
	uint32_t flags = domain->observe.domctl[0].u.getdomaininfo.flags;

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

static void choose_vcpus(struct xen_guest *domain)
{
	struct batch *batch = &domain->pause;

	batch->count = 1;
	for (unsigned int i = 0; i < domain->guest.info.vcpus; i++) {
		struct guest_vcpu *vcpu = &domain->guest.vcpu[i];
		struct xen_domctl *domctl;

		vcpu->captured = false;
		if (!vcpu->wanted || !vcpu->online)
			continue;
		domain->target[batch->count - 1] = i;
		domctl = batch_add(domain, batch, XEN_DOMCTL_getvcpucontext);
		domctl->u.vcpucontext.vcpu = i;
		set_xen_guest_handle_raw(domctl->u.vcpucontext.ctxt, &domain->context[i]);
	}
}

/* Whether the vCPU was not running before the last pause, because it was blocked or
 * waited for a physical CPU, and has not run since. */
static bool has_not_run(const struct xen_guest *domain, unsigned int i)
{
	const struct guest_vcpu *vcpu = &domain->guest.vcpu[i];

	return vcpu->captured && vcpu->state != VCPU_RUNNING &&
	       vcpu->cpu_time == domain->ran[i];
}

static bool nobody_has_run(const struct xen_guest *domain)
{
	unsigned int resting = 0;

	for (unsigned int i = 0; i < domain->guest.info.vcpus; i++) {
		const struct guest_vcpu *vcpu = &domain->guest.vcpu[i];

		if (!vcpu->wanted || !vcpu->online)
			continue;
		if (!has_not_run(domain, i))
			return false;
		resting++;
	}
	return resting > 0;
}

static void note_cpu_times(struct xen_guest *domain)
{
	for (unsigned int i = 0; i < domain->guest.info.vcpus; i++) {
		const struct guest_vcpu *vcpu = &domain->guest.vcpu[i];

		domain->ran[i] = vcpu->online && vcpu->state != VCPU_RUNNING
					 ? vcpu->cpu_time
					 : CPU_TIME_UNKNOWN;
	}
}

static void prepare_pause(struct guest *guest)
{
	struct xen_guest *domain = xen_guest_of(guest);
	uint64_t since = clock_monotonic() - domain->observed + PAUSE_SOON_NS;
	struct left_domain left = {
		.id = guest->info.id,
		.ran = domain->observe.domctl[0].u.getdomaininfo.cpu_time +
		       since * guest->info.vcpus,
	};

	domain->rests = domain->is_new && nobody_has_run(domain);
	domain->is_new = false;
	if (domain->rests)
		return;
	note_cpu_times(domain);
	choose_vcpus(domain);
	memcpy(left.uuid, guest->info.uuid, sizeof(left.uuid));
	pause_prepare(domain->xen, &left);
}

static void take_registers(struct xen_guest *domain)
{
	for (unsigned int entry = 1; entry < domain->pause.count; entry++) {
		unsigned int i = domain->target[entry - 1];
		struct guest_vcpu *vcpu = &domain->guest.vcpu[i];

		if (batch_result(&domain->pause, entry) < 0)
			continue;
		vcpu->captured = true;
		registers_take(domain->xen, domain->guest.info.type, &domain->context[i],
			       &domain->mode[i], &vcpu->cpu);
	}
}

/* Makes the calls of the pause, after those that observe the vCPUs if they are due. */
static int call_pause(struct xen_guest *domain)
{
	unsigned int vcpus = domain->observes ? domain->guest.info.vcpus : 0;
	const struct batch calls = {domain->pause.entry - vcpus,
				    domain->pause.domctl - vcpus,
				    vcpus + domain->pause.count};
	int status = batch_call(domain->xen, &calls, 0);

	if (domain->observes && status == 0) {
		observe_vcpus(domain, &calls);
		note_cpu_times(domain);
	}
	domain->observes = false;
	return status;
}

static int pause_guest(struct guest *guest, struct error *err)
{
	struct xen_guest *domain = xen_guest_of(guest);
	int status;

	if (domain->rests)
		return PAUSE_NEEDLESS;
	pause_begin(domain->xen->pause);
	status = call_pause(domain);
	if (!xen_paused_since(&domain->xen->host)) {
		pause_failed(domain->xen->pause);
		if (status == 0)
			status = batch_result(&domain->pause, 0);
		if (status == -ESRCH)
			return 1;
		return error_errno(err, status < 0 ? -status : EIO,
				   "can't pause domain %u", guest->info.id);
	}
	take_registers(domain);
	return 0;
}

static int resume_guest(struct guest *guest, struct error *err)
{
	return pause_end(xen_guest_of(guest)->xen, err);
}

/* Xen's pause does not wait for vCPUs that have no CPU. */
static uint64_t finish_pause(struct guest *guest)
{
	(void)guest;
	return 0;
}

static int take_guest(struct guest *guest, struct error *err)
{
	struct xen_guest *domain = xen_guest_of(guest);
	int status;

	choose_vcpus(domain);
	if (domain->pause.count == 1)
		return 0;
	status = batch_call(domain->xen, &domain->pause, 1);
	if (status < 0)
		return error_errno(err, -status, "can't query domain %u", guest->info.id);
	take_registers(domain);
	return 0;
}

/* Whether a vCPU has run after all, while the samples were taken without a pause. */
static bool has_woken(struct xen_guest *domain)
{
	enum observation observation;
	struct error ignored;

	if (!domain->rests)
		return false;
	domain->rests = false;
	if (look_at(&domain->guest, clock_monotonic(), &observation, &ignored) < 0 ||
	    observation != OBSERVED_RUNNING || !nobody_has_run(domain)) {
		domain->is_new = false;
		return true;
	}
	return false;
}

static bool learn_modes(struct guest *guest)
{
	struct xen_guest *domain = xen_guest_of(guest);
	const struct guest_memory memory = {.page = pages_map, .context = domain->pages};
	bool any = has_woken(domain);

	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		struct guest_vcpu *vcpu = &guest->vcpu[i];

		if (!vcpu->captured)
			continue;
		if (guest->info.type == GUEST_PV)
			any |= registers_learn_segment(&domain->context[i], &memory,
						       &vcpu->cpu, &domain->mode[i]);
		else
			any |= registers_learn_mode(domain->xen, guest->info.id, i,
						    &vcpu->cpu, &domain->mode[i]);
	}
	return any;
}

static const struct guest_ops operations = {
	.close = close_guest,
	.observe = observe_guest,
	.ending = ending_of,
	.prepare = prepare_pause,
	.pause = pause_guest,
	.resume = resume_guest,
	.finish = finish_pause,
	.take = take_guest,
	.learn_modes = learn_modes,
	.kind = kind_of,
	.begin_pages = pages_begin,
	.get_page = pages_get,
	.map_page = pages_map,
	.pages_missed = pages_missed,
	.page_misses = pages_misses,
	.are_pages_live = true,
};

static int allocate(struct xen_guest *domain, struct error *err)
{
	const struct guest_info *info = &domain->guest.info;
	bool is_pv_32 = xen_domain_is_pv_32(domain->xen, info);

	domain->target = calloc(info->vcpus, sizeof(*domain->target));
	domain->mode = calloc(info->vcpus, sizeof(*domain->mode));
	domain->ran = calloc(info->vcpus, sizeof(*domain->ran));
	if (!domain->target || !domain->mode || !domain->ran)
		return error_set(err, "out of memory");
	for (unsigned int i = 0; i < info->vcpus; i++)
		domain->mode[i].is_pv_32 = is_pv_32;
	if (hypercall_memory_get(domain->xen, &domain->memory, memory_size(info->vcpus),
				 err) < 0)
		return -1;
	divide_memory(domain);
	return 0;
}

struct guest *xen_guest_open(struct host *host, const struct guest_info *info,
			     const bool *wanted, struct error *err)
{
	struct xen *xen = xen_of(host);
	struct xen_guest *domain;

	if (newer_check(xen, info->id, err) < 0 || xen_domain_check(info, err) < 0)
		return NULL;
	if (info->vcpus > PAUSE_VCPUS_MAX) {
		error_set(err, "domain %u has more than %d vCPUs", info->id,
			  PAUSE_VCPUS_MAX);
		return NULL;
	}
	domain = guest_new(sizeof(*domain), &operations, info, wanted, err);
	if (!domain)
		return NULL;
	domain->xen = xen;
	if (allocate(domain, err) < 0)
		goto fail;
	domain->pages = pages_new(xen, info->id, err);
	if (!domain->pages)
		goto fail;
	domain->guest.memory = domain->pages;
	return &domain->guest;
fail:
	close_guest(&domain->guest);
	return NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "xen/internal.h"
#include "xen/memory.h"
#include "xen/registers.h"

/* Stands in a result until Xen has made the call and put its own there. */
#define NOT_CALLED ((xen_ulong_t)0x6e6f74796574)

/* Domctls that go to Xen as one multicall; all of it is shared memory. */
struct batch {
	multicall_entry_t *entry;
	struct xen_domctl *domctl;
	unsigned int count;
};

struct capture {
	struct xen *xen;
	struct xen_domain domain;
	struct shared_memory memory;
	struct batch observe; /* the domain, then each vCPU */
	struct batch pause;   /* the pause, then the contexts of some vCPUs */
	struct batch resume;
	vcpu_guest_context_t *context; /* of each vCPU */
	bool *wanted;
	unsigned int *target; /* the vCPU of pause.entry[i + 1] */
	struct vcpu_mode *mode;
	struct capture_vcpu *vcpu;
};

static char *carve(char **from, size_t size)
{
	char *at = *from;

	*from += (size + 63) & ~(size_t)63;
	return at;
}

static void batch_init(struct batch *batch, char **from, unsigned int capacity)
{
	batch->entry = (void *)carve(from, capacity * sizeof(*batch->entry));
	batch->domctl = (void *)carve(from, capacity * sizeof(*batch->domctl));
	batch->count = 0;
}

static struct xen_domctl *batch_add(struct capture *capture, struct batch *batch,
				    uint32_t command)
{
	struct xen_domctl *domctl = &batch->domctl[batch->count];

	xen_domctl_init(capture->xen, domctl, command, capture->domain.id);
	batch->count++;
	return domctl;
}

/* Makes the calls from the @first on. Xen may write over the entries: a debug
 * build does so on purpose (xen/common/multicall.c). */
static int batch_call(struct capture *capture, struct batch *batch, unsigned int first)
{
	int status;

	for (unsigned int i = first; i < batch->count; i++) {
		batch->entry[i].op = __HYPERVISOR_domctl;
		batch->entry[i].args[0] = (xen_ulong_t)(uintptr_t)&batch->domctl[i];
	}
	status = capture->xen->lib.call2(capture->xen->call, __HYPERVISOR_multicall,
					 (uint64_t)(uintptr_t)&batch->entry[first],
					 batch->count - first);

	return status < 0 ? -errno : 0;
}

/* The results of single calls are -errno, too. */
static int batch_result(const struct batch *batch, unsigned int i)
{
	return (int)(long)batch->entry[i].result;
}

static void prepare(struct capture *capture)
{
	unsigned int vcpus = capture->domain.vcpus;
	char *from = capture->memory.data;

	batch_init(&capture->observe, &from, 1 + vcpus);
	batch_init(&capture->pause, &from, 1 + vcpus);
	batch_init(&capture->resume, &from, 1);
	capture->context = (void *)carve(&from, vcpus * sizeof(*capture->context));

	batch_add(capture, &capture->observe, XEN_DOMCTL_getdomaininfo);
	for (unsigned int i = 0; i < vcpus; i++)
		batch_add(capture, &capture->observe, XEN_DOMCTL_getvcpuinfo)
			->u.getvcpuinfo.vcpu = i;
	batch_add(capture, &capture->pause, XEN_DOMCTL_pausedomain);
	batch_add(capture, &capture->resume, XEN_DOMCTL_unpausedomain);
	capture->pause.entry[0].result = NOT_CALLED;
}

struct capture *capture_new(struct xen *xen, const struct xen_domain *domain,
			    const bool *wanted, struct error *err)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	size_t vcpus = domain->vcpus;
	size_t size = (2 * (1 + vcpus) + 1) *
			      (sizeof(multicall_entry_t) + sizeof(struct xen_domctl)) +
		      vcpus * sizeof(vcpu_guest_context_t) + 7 * 64;

	if (!capture)
		goto no_memory;
	capture->xen = xen;
	capture->domain = *domain;
	capture->wanted = calloc(vcpus, sizeof(*capture->wanted));
	capture->target = calloc(vcpus, sizeof(*capture->target));
	capture->mode = calloc(vcpus, sizeof(*capture->mode));
	capture->vcpu = calloc(vcpus, sizeof(*capture->vcpu));
	if (!capture->wanted || !capture->target || !capture->mode || !capture->vcpu)
		goto no_memory;
	for (size_t i = 0; i < vcpus; i++)
		capture->wanted[i] = !wanted || wanted[i];
	if (shared_memory_get(xen, &capture->memory, size, err) < 0) {
		capture_free(capture);
		return NULL;
	}
	prepare(capture);
	return capture;
no_memory:
	capture_free(capture);
	error_set(err, "not enough memory");
	return NULL;
}

void capture_free(struct capture *capture)
{
	if (!capture)
		return;
	shared_memory_put(capture->xen, &capture->memory);
	free(capture->wanted);
	free(capture->target);
	free(capture->mode);
	free(capture->vcpu);
	free(capture);
}

unsigned int capture_vcpus(const struct capture *capture)
{
	return capture->domain.vcpus;
}

enum cpu_kind capture_kind(const struct capture *capture)
{
	for (unsigned int i = 0; i < capture->domain.vcpus; i++)
		if (capture->vcpu[i].captured)
			return cpu_kind(&capture->vcpu[i].cpu);
	return registers_kind(capture->domain.type);
}

const struct capture_vcpu *capture_vcpu(const struct capture *capture, unsigned int vcpu)
{
	return &capture->vcpu[vcpu];
}

static void observe_vcpu(struct capture *capture, unsigned int i)
{
	const struct xen_domctl_getvcpuinfo *info =
		&capture->observe.domctl[i + 1].u.getvcpuinfo;
	struct capture_vcpu *vcpu = &capture->vcpu[i];

	vcpu->online = batch_result(&capture->observe, i + 1) == 0 && info->online;
	if (!vcpu->online)
		return;
	vcpu->cpu_time = info->cpu_time;
	if (info->running)
		vcpu->state = VCPU_RUNNING;
	else
		vcpu->state = info->blocked ? VCPU_BLOCKED : VCPU_RUNNABLE;
}

int capture_observe(struct capture *capture, enum observation *observation,
		    struct error *err)
{
	const struct xen_domctl *domctl = &capture->observe.domctl[0];
	uint32_t id = capture->domain.id;
	int status;

	/* Xen before 4.19 answers with another domain when this one is gone. */
	for (unsigned int i = 0; i < capture->observe.count; i++)
		capture->observe.domctl[i].domain = (domid_t)id;
	status = batch_call(capture, &capture->observe, 0);
	if (status == 0)
		status = batch_result(&capture->observe, 0);
	if (status < 0 && status != -ESRCH)
		return error_errno(err, -status, "can't ask Xen about domain %u", id);
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
	for (unsigned int i = 0; i < capture->domain.vcpus; i++)
		observe_vcpu(capture, i);
	return 0;
}

const char *capture_ending(const struct capture *capture)
{
	uint32_t flags = capture->observe.domctl[0].u.getdomaininfo.flags;

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

void capture_prepare(struct capture *capture)
{
	struct batch *batch = &capture->pause;

	batch->count = 1;
	for (unsigned int i = 0; i < capture->domain.vcpus; i++) {
		struct xen_domctl *domctl;

		capture->vcpu[i].captured = false;
		if (!capture->wanted[i] || !capture->vcpu[i].online)
			continue;
		capture->target[batch->count - 1] = i;
		memset(&capture->context[i], 0, sizeof(capture->context[i]));
		domctl = batch_add(capture, batch, XEN_DOMCTL_getvcpucontext);
		domctl->u.vcpucontext.vcpu = i;
		set_xen_guest_handle_raw(domctl->u.vcpucontext.ctxt,
					 &capture->context[i]);
	}
}

static void take_registers(struct capture *capture)
{
	for (unsigned int entry = 1; entry < capture->pause.count; entry++) {
		unsigned int i = capture->target[entry - 1];
		struct capture_vcpu *vcpu = &capture->vcpu[i];

		if (batch_result(&capture->pause, entry) < 0)
			continue;
		vcpu->captured = true;
		registers_take(capture->xen, capture->domain.type, &capture->context[i],
			       &capture->mode[i], &vcpu->cpu);
	}
}

/*
 * Xen writes the results of a multicall's entries itself. The domain is paused
 * by this process exactly while the pause has a result of 0 and the resumption
 * has none: each step below keeps that true, wherever the process may be ended.
 */
int capture_pause(struct capture *capture, struct error *err)
{
	struct batch *batch = &capture->pause;
	int status;

	__atomic_store_n(&batch->entry[0].result, NOT_CALLED, __ATOMIC_SEQ_CST);
	__atomic_store_n(&capture->resume.entry[0].result, NOT_CALLED, __ATOMIC_SEQ_CST);
	status = batch_call(capture, batch, 0);
	if (!capture_left_paused(capture)) {
		if (status == 0)
			status = batch_result(batch, 0);
		if (status == -ESRCH)
			return 1;
		return error_errno(err, status < 0 ? -status : EIO,
				   "can't pause domain %u", capture->domain.id);
	}
	take_registers(capture);
	return 0;
}

int capture_take(struct capture *capture, struct error *err)
{
	int status;

	capture_prepare(capture);
	if (capture->pause.count == 1)
		return 0;
	status = batch_call(capture, &capture->pause, 1);
	if (status < 0)
		return error_errno(err, -status, "can't ask Xen about domain %u",
				   capture->domain.id);
	take_registers(capture);
	return 0;
}

int capture_resume(struct capture *capture, struct error *err)
{
	int status = batch_call(capture, &capture->resume, 0);

	if (status == 0)
		status = batch_result(&capture->resume, 0);
	if (status == -ESRCH)
		return 1;
	if (status == -EINVAL)
		return 0; /* someone else has ended this pause: the domain runs */
	if (status < 0)
		return error_errno(err, -status, "can't let domain %u run again",
				   capture->domain.id);
	return 0;
}

bool capture_left_paused(const struct capture *capture)
{
	xen_ulong_t paused, resumed;

	paused = __atomic_load_n(&capture->pause.entry[0].result, __ATOMIC_SEQ_CST);
	resumed = __atomic_load_n(&capture->resume.entry[0].result, __ATOMIC_SEQ_CST);
	return paused == 0 && resumed == NOT_CALLED;
}

bool capture_learn_modes(struct capture *capture)
{
	bool learned = false;

	if (capture->domain.type == GUEST_PV)
		return false;
	for (unsigned int i = 0; i < capture->domain.vcpus; i++)
		if (capture->vcpu[i].captured)
			learned |= registers_learn_mode(capture->xen, capture->domain.id,
							i, &capture->vcpu[i].cpu,
							&capture->mode[i]);
	return learned;
}

int capture_adopt(struct capture *capture, struct error *err)
{
	struct xen *xen = capture->xen;

	xen->call = xen->lib.call_open(xen_library_silence(), 0);
	if (!xen->call)
		return error_errno(err, errno, "can't open Xen's hypercall interface");
	return 0;
}

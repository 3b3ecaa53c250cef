/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compat.h"
#include "kvm/kvm_guest.h"
#include "kvm/registers.h"
#include "kvm/vmm.h"

/* How often, and at what distance in ns, to look for the threads of vCPUs at first: a
 * thread can be in the VMM's own code at the moment of the look. */
#define TRIES  50
#define TRY_NS 1000000

/* There is no permission to trace a VMM that is being opened if tracing was refused for
 * this time, ns, while nobody else was seen to trace the VMM. */
#define REFUSED_NS (NS_PER_S / 50)

/* Another profiler traces a thread for some microseconds at a time, unless it waits for a
 * CPU; a debugger keeps it. How long to wait for one that stays, and for any, ns. */
#define TRACER_NS  NS_PER_S
#define TRACERS_NS (10 * NS_PER_S)

static int open_vcpus(struct kvm_guest *vmm, struct error *err)
{
	unsigned int vcpus = vmm->guest.info.vcpus;
	struct vcpu_fd *fds;
	size_t count;
	int status = 0;

	vmm->vcpu = calloc(vcpus, sizeof(*vmm->vcpu));
	if (!vmm->vcpu)
		return error_set(err, "out of memory");
	for (unsigned int i = 0; i < vcpus; i++)
		vmm->vcpu[i] = (struct vcpu){
			.ours = -1, .stat = -1, .schedstat = -1, .wchan = -1};
	if (vcpus_list(vmm->pid, &fds, &count) < 0)
		return trace_refused(vmm->pid, errno, err);
	if (count < vcpus)
		status = error_set(err, "process %d has just closed vCPUs", vmm->pid);
	for (unsigned int i = 0; i < vcpus && status == 0; i++)
		if (vcpu_open(&vmm->vcpu[i], vmm->pid, vmm->pidfd, fds[i].fd,
			      vmm->kvm->requests, !vmm_syncs(vmm->guest.info.vmm)) < 0)
			status = trace_refused(vmm->pid, errno, err);
	free(fds);
	return status;
}

/* Attaches to the VMM's first thread. Waits for other profilers, but not for a debugger.
 * The guard is told of a hold if that succeeds. */
static int attach_first(struct kvm_guest *vmm, struct traced *traced, struct error *err)
{
	const struct timespec moment = {0, TRY_NS};
	uint64_t begun = clock_monotonic(), since = begun;
	pid_t last = 0;

	for (;;) {
		uint64_t now;
		pid_t tracer;
		int errnum;

		kvm_guest_hold(vmm);
		if (trace_attach(traced, vmm->pid, vmm->pid) == 0)
			break;
		errnum = errno;
		kvm_note_late(vmm->kvm);
		tracer = trace_tracer(vmm->pid, vmm->pid);
		now = clock_monotonic();
		if (errnum != EPERM || kvm_guest_is_forbidden(vmm, tracer, REFUSED_NS))
			return trace_refused(vmm->pid, errnum, err);
		if (tracer != last)
			since = now;
		last = tracer;
		if (tracer && (now - since >= TRACER_NS || now - begun >= TRACERS_NS ||
			       host_is_over(&vmm->kvm->host)))
			return error_set(err,
					 "process %d is traced by another process, %d",
					 vmm->pid, tracer);
		nanosleep(&moment, NULL);
	}
	vmm->refusals = 0;
	return 0;
}

/* Looks for the threads of all vCPUs, and checks the permission to trace. */
static int find_all_threads(struct kvm_guest *vmm, struct error *err)
{
	const struct timespec moment = {0, TRY_NS};
	uint64_t begun = clock_monotonic();
	struct traced traced;
	bool is_held;

	if (attach_first(vmm, &traced, err) < 0)
		return -1;
	trace_begin(&vmm->kvm->trace, 1);
	trace_release(&vmm->kvm->trace, &traced);
	kvm_guest_end_trace(vmm);
	for (int i = 0; kvm_guest_find_threads(vmm, &is_held); i++) {
		bool is_late = is_held ? clock_monotonic() - begun >= TRACER_NS
				       : i + 1 >= TRIES;
		if (host_is_over(&vmm->kvm->host))
			return error_set(err,
					 "there was no time to find the vCPUs of '%s': "
					 "nothing was recorded",
					 vmm->guest.info.name);
		if (is_late)
			break;
		nanosleep(&moment, NULL);
	}
	return 0;
}

/* Checks that the process with the guest's id is still its VMM. */
static int check_is_same(struct kvm_guest *vmm, struct error *err)
{
	const struct guest_info *info = &vmm->guest.info;
	struct guest_info now;
	int status = kvm_guest_info(&vmm->kvm->host, info->id, &now, err);

	if (status < 0)
		return -1;
	if (status > 0 || strcmp(now.name, info->name) != 0 || kvm_guest_is_gone(vmm))
		return error_set(err, "'%s' has ended", info->name);
	return 0;
}

struct guest *kvm_guest_open(struct host *host, const struct guest_info *info,
			     const bool *wanted, struct error *err)
{
	struct kvm_guest *vmm = guest_new(sizeof(*vmm), &kvm_guest_ops, info, wanted,
					  err);

	if (!vmm)
		return NULL;
	vmm->kvm = kvm_of(host);
	vmm->pid = (pid_t)info->id;
	vmm->pidfd = (int)syscall(SYS_pidfd_open, vmm->pid, 0);
	if (vmm->pidfd < 0) {
		error_errno(err, errno, "can't open process %d", vmm->pid);
		goto fail;
	}
	if (check_is_same(vmm, err) < 0 || open_vcpus(vmm, err) < 0 ||
	    find_all_threads(vmm, err) < 0 ||
	    kvm_registers_check(vmm->kvm->kernel, vmm->vcpu, info->vcpus, info->name,
				err) < 0)
		goto fail;
	vmm->memory = kvm_memory_new(vmm->pid, vmm->kvm->watch, vmm->kvm->fetch,
				     vmm->kvm->kernel, err);
	if (!vmm->memory)
		goto fail;
	vmm->guest.memory = vmm->memory;
	kvm_guest_follow_memory(vmm);
	kvm_watch_begin(vmm);
	return &vmm->guest;
fail:
	kvm_guest_close(&vmm->guest);
	return NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "kvm/kvm_guest.h"
#include "kvm/registers.h"

/* Bytes of stacks that events copy at first. */
#define COPY_FIRST 2048

/* Tells the program where the guest's memory is. */
static int place_events(struct kvm_guest *vmm, struct error *err)
{
	uint64_t serial;
	const struct layout *layout = kvm_memory_exact(vmm->memory, &serial);

	if (!layout)
		return error_set(err, "KVM does not tell where its memory is");
	if (serial == vmm->placed)
		return 0;
	if (!watcher_place(vmm->watcher, layout))
		return error_set(err, "its memory is in more than %u parts",
				 WATCH_REGIONS);
	vmm->placed = serial;
	return 0;
}

static int begin_event(struct kvm_guest *vmm, unsigned int i, struct error *err)
{
	const struct host *host = &vmm->kvm->host;
	struct vcpu *vcpu = &vmm->vcpu[i];
	const struct watch_event *seen;
	struct cpu ignored;

	if (!vcpu_thread(vcpu, &vcpu->before, &vcpu->waited))
		return error_set(err, "vCPU %u has no thread", i);
	seen = watcher_peek(vmm->watcher, vcpu->ours);
	if (!seen || !kvm_registers_of_event(seen, &ignored))
		return error_set(err, "the registers of vCPU %u can't be read%s", i,
				 seen ? ": its memory is encrypted" : "");
	if (watcher_begin(vmm->watcher, i, vcpu->ours, vcpu->tid, host->event_period,
			  host->event, err) < 0)
		return -1;
	vcpu->watched = vcpu->tid;
	return 0;
}

static int begin_events(struct kvm_guest *vmm, struct error *err)
{
	struct kvm *kvm = vmm->kvm;
	unsigned int vcpus = vmm->guest.info.vcpus;

	if (kvm->is_confined)
		return error_set(err, "it was not there when recording began");
	if (!kvm->kernel)
		return error_set(err, "%s", kvm->no_kernel.text);
	if (!kvm->has_offsets && watch_offsets_find(&kvm->offsets, err) < 0)
		return -1;
	kvm->has_offsets = true;
	vmm->watcher = watcher_new(kvm->kernel, &kvm->offsets, vcpus, err);
	if (!vmm->watcher || place_events(vmm, err) < 0)
		return -1;
	vmm->copied = COPY_FIRST;
	watcher_copy(vmm->watcher, vmm->copied);
	for (unsigned int i = 0; i < vcpus; i++)
		if (vmm->guest.vcpu[i].wanted && begin_event(vmm, i, err) < 0)
			return -1;
	return 0;
}

void kvm_end_events(struct guest *guest)
{
	struct kvm_guest *vmm = kvm_guest_of(guest);

	watcher_free(vmm->watcher);
	vmm->watcher = NULL;
	guest->has_events = false;
}

void kvm_watch_begin(struct kvm_guest *vmm)
{
	struct guest *guest = &vmm->guest;

	if (!vmm->kvm->host.event_period)
		return;
	if (begin_events(vmm, &guest->no_events) < 0)
		kvm_end_events(guest);
	else
		guest->has_events = true;
}

void kvm_watch_follow(struct kvm_guest *vmm)
{
	struct guest *guest = &vmm->guest;
	bool is_gone = false;

	if (!vmm->watcher)
		return;
	for (unsigned int i = 0; i < guest->info.vcpus; i++)
		is_gone |= vmm->vcpu[i].watched &&
			   vmm->vcpu[i].tid != vmm->vcpu[i].watched;
	if (is_gone)
		error_set(&guest->no_events, "another thread runs one of its vCPUs");
	if (is_gone || place_events(vmm, &guest->no_events) < 0)
		kvm_end_events(guest);
}

/* Returns why the vCPU was out of KVM_RUN, 0 if it was not: from the part of its run page
 * that was copied. */
static uint64_t exit_of(const struct watch_event *event)
{
	struct kvm_run run = {0};

	_Static_assert(offsetof(struct kvm_run, exit_reason) == WATCH_EXIT &&
			       offsetof(struct kvm_run, mmio.is_write) <
				       WATCH_EXIT + sizeof(event->exit),
		       "all that tells the exit is copied");
	if (event->flags & WATCH_LOADED)
		return 0;
	memcpy((char *)&run + WATCH_EXIT, event->exit, sizeof(event->exit));
	return vcpu_run_exit(&run);
}

/* The registers of an event whose stack could not be copied are still right. */
bool kvm_next_event(struct guest *guest, unsigned int i, struct guest_event *event)
{
	struct kvm_guest *vmm = kvm_guest_of(guest);
	struct guest_vcpu *vcpu = &guest->vcpu[i];
	const struct watch_event *seen;
	bool is_torn;

	event->lost = 0;
	seen = vmm->watcher ? watcher_next(vmm->watcher, i, &event->lost) : NULL;
	if (!seen || !kvm_registers_of_event(seen, &vcpu->cpu))
		return false;
	is_torn = seen->flags & WATCH_TORN;
	vcpu->online = vcpu->captured = cpu_has_started(&vcpu->cpu);
	vcpu->exit = exit_of(seen);
	event->time = seen->time;
	event->cpu_time = vmm->vcpu[i].before + seen->ran;
	event->counted = seen->counted;
	event->start = seen->start;
	event->word = seen->word;
	event->count = is_torn ? 0 : seen->bytes / 8;
	return true;
}

bool kvm_peek(struct guest *guest, unsigned int i)
{
	struct kvm_guest *vmm = kvm_guest_of(guest);
	struct guest_vcpu *seen = &guest->vcpu[i];
	struct vcpu *vcpu = &vmm->vcpu[i];
	const struct watch_event *event;
	struct kernel_vcpu before;

	if (!vmm->watcher || !vcpu->watched || seen->state != VCPU_BLOCKED ||
	    !kernel_look(vmm->kvm->kernel, vcpu->ours, &before) ||
	    before.exits == KERNEL_EXITS_UNKNOWN)
		return false;
	vcpu->peeked = before.exits;
	event = watcher_peek(vmm->watcher, vcpu->ours);
	if (!event || !kvm_registers_of_event(event, &seen->cpu))
		return false;
	seen->captured = guest_has_started(guest, i);
	vcpu->rests = true;
	vcpu_look_blocked(vcpu, vmm->pid);
	vcpu->rests = false;
	seen->exit = vcpu_exit(vcpu, VCPU_BLOCKED);
	return seen->captured;
}

bool kvm_has_waited(struct guest *guest, unsigned int i)
{
	struct kvm_guest *vmm = kvm_guest_of(guest);
	struct vcpu *vcpu = &vmm->vcpu[i];
	struct kernel_vcpu after;
	uint64_t ran, waited;

	return vcpu_thread(vcpu, &ran, &waited) == 'S' &&
	       kernel_look(vmm->kvm->kernel, vcpu->ours, &after) &&
	       after.exits == vcpu->peeked;
}

bool kvm_copy_more(struct guest *guest)
{
	struct kvm_guest *vmm = kvm_guest_of(guest);

	if (!vmm->watcher || vmm->copied >= WATCH_STACK)
		return false;
	vmm->copied *= 2;
	watcher_copy(vmm->watcher, vmm->copied);
	return true;
}

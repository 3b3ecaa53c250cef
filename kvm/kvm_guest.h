/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_KVM_GUEST_H
#define UNIPROF_KVM_KVM_GUEST_H

#include "guest/guest.h"
#include "kvm/internal.h"
#include "kvm/memory/memory.h"
#include "kvm/vcpus.h"

/* A guest of KVM, as kvm_guest_open() makes it; for kvm/ only. */
struct kvm_guest {
	struct guest guest;
	struct kvm *kvm;
	pid_t pid;
	int pidfd;
	struct vcpu *vcpu; /* info.vcpus elements */
	struct kvm_memory *memory;
	uint64_t looked;  /* time of the last look for threads, ns, monotonic */
	uint64_t counted; /* time of the last count of vCPUs, ns, monotonic */
	bool syncs;	  /* its VMM may use synchronized registers (kvm/requests.h) */
	bool again;    /* registers were not stored in the last pause, but may be soon */
	bool grew;     /* gained vCPUs since it was opened */
	pid_t refused; /* thread that could not be attached to; 0: none */
	unsigned int refusals;	 /* number of refusals, one after another */
	uint64_t refused_at;	 /* time of the first of them, ns, monotonic */
	uint64_t observed;	 /* time of the last observation, ns, monotonic */
	uint64_t begun;		 /* start of the last pause, ns, monotonic */
	uint64_t stopping;	 /* time that the last pause took to stop all vCPUs, ns */
	struct watcher *watcher; /* NULL: no events */
	unsigned int copied;	 /* bytes of stacks that events copy */
	uint64_t placed;	 /* serial of the layout that events use */
};

static inline struct kvm_guest *kvm_guest_of(struct guest *guest)
{
	return (struct kvm_guest *)guest;
}

extern const struct guest_ops kvm_guest_ops;

void kvm_guest_close(struct guest *guest);
/* Notes for the guard that threads may be stopped from now on. */
void kvm_guest_hold(struct kvm_guest *vmm);
bool kvm_guest_is_gone(const struct kvm_guest *vmm);
/* Ends a pause, even one that failed. */
void kvm_guest_end_trace(struct kvm_guest *vmm);
/* Asks KVM where the guest's memory is. */
void kvm_guest_follow_memory(struct kvm_guest *vmm);
/* Looks for the threads of vCPUs, as vcpus_find_threads() does. */
size_t kvm_guest_find_threads(struct kvm_guest *vmm, bool *is_held);
/* Counts a refusal to trace a thread of the VMM. Returns whether the permission is
 * missing, after refusals for @least ns: a tracer may go before the look for it. */
bool kvm_guest_is_forbidden(struct kvm_guest *vmm, pid_t tracer, uint64_t least);

/* Begins events of all vCPUs, if they are asked for and possible; else notes why not. */
void kvm_watch_begin(struct kvm_guest *vmm);
/* Follows what the guest's events depend on, and ends them if that is gone. */
void kvm_watch_follow(struct kvm_guest *vmm);
/* Functions of struct guest_ops. */
bool kvm_next_event(struct guest *guest, unsigned int vcpu, struct guest_event *event);
bool kvm_peek(struct guest *guest, unsigned int vcpu);
bool kvm_has_waited(struct guest *guest, unsigned int vcpu);
bool kvm_copy_more(struct guest *guest);
void kvm_end_events(struct guest *guest);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_INTERNAL_H
#define UNIPROF_KVM_INTERNAL_H

#include <stdatomic.h>

#include "guest/host.h"
#include "kvm/bpf/kernel.h"
#include "kvm/bpf/watcher.h"
#include "kvm/kvm.h"
#include "kvm/memory/fetch.h"
#include "kvm/requests.h"
#include "kvm/trace.h"

/*
 * Shared with the guard. When the recorder dies, the kernel detaches it from the threads
 * that it traces, and the guest continues. When the recorder is stopped instead, only
 * @since tells that it holds a guest.
 */
struct kvm_shared {
	/* since when a thread of a guest may be stopped, as host_ops.paused_since()
	 * returns it */
	_Atomic uint64_t since;
};

struct kvm {
	struct host host;
	/* NULL until the host is armed */
	struct kvm_shared *shared;
	struct request *requests;
	struct trace trace;
	struct fetch *fetch;
	int watch;		/* of share_watch() */
	struct kernel *kernel;	/* NULL: KVM can't be asked for slots and threads */
	struct error no_kernel; /* why not */
	struct watch_offsets offsets;
	bool has_offsets;
	bool is_confined; /* this process can begin no events any more */
};

static inline struct kvm *kvm_of(struct host *host)
{
	return (struct kvm *)host;
}

/* Notes for the guard, while nothing is known to be stopped, whether a thread may stop.
 */
static inline void kvm_note_late(struct kvm *kvm)
{
	atomic_store(&kvm->shared->since, trace_late_count(&kvm->trace) ? HOLDS_LATE : 0);
}

/* Releases late threads that have stopped, while nothing is paused. */
static inline void kvm_sweep(struct kvm *kvm)
{
	trace_sweep(&kvm->trace);
	kvm_note_late(kvm);
}

/* In kvm/calls.c. */
extern const struct host_needs kvm_needs;

/* The functions of struct host_ops, in kvm/list.c and kvm/guest_ops.c. */
int kvm_guest_info(struct host *host, uint32_t id, struct guest_info *info,
		   struct error *err);
int kvm_guest_list(struct host *host, struct guest_info **guests, size_t *count,
		   struct error *err);
struct guest *kvm_guest_open(struct host *host, const struct guest_info *info,
			     const bool *wanted, struct error *err);

#endif

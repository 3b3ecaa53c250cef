/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_VCPUS_H
#define UNIPROF_KVM_VCPUS_H

#include <linux/kvm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "kvm/requests.h"
#include "kvm/trace.h"

/* A limit for processes that open vCPUs without end; KVM's own is 1024 or 4096. */
#define VCPUS_MAX 4096

/* A VMM's descriptor of a vCPU. */
struct vcpu_fd {
	unsigned int number; /* KVM's; not always without gaps */
	int fd;
};

/*
 * Lists the vCPUs of a VMM in the order of their numbers. A process without a VM, such as
 * another profiler, which has only vCPUs, is not a VMM. The caller frees the array, which
 * is NULL if there are none. -1 with errno set if the process is gone or may
 * not be inspected.
 */
int vcpus_list(pid_t pid, struct vcpu_fd **fds, size_t *count);

/* Whether two processes have the same vCPU open: one is a fork of the other. */
bool vcpus_shared(pid_t a, pid_t b, int fd);

/* A vCPU of another process. */
struct vcpu {
	int theirs; /* the VMM's descriptor */
	int ours;   /* the same, in this process */
	/* The run page, shared with KVM and the VMM: nothing but kvm_valid_regs is ever
	 * written. */
	struct kvm_run *run;
	uint64_t added;		 /* the bits of it that we set */
	struct request *request; /* the note of that; NULL: none */
	pid_t tid;		 /* the thread that runs it; 0: not known */
	int stat, schedstat;	 /* of the thread */
	/* How often the thread was stopped on its way out of KVM_RUN since KVM was asked
	 * to store registers: they are in the page from the second time on, because the
	 * first KVM_RUN may have been over before. */
	unsigned int runs;
	struct traced traced;
	uint64_t waited; /* for a CPU, when last observed: ns */
};

/* Opens one: 0, or -1 with errno set. The vCPU keeps the VM from being freed until
 * vcpu_close(), which also puts kvm_valid_regs back. */
int vcpu_open(struct vcpu *vcpu, int pidfd, int fd);
void vcpu_close(struct vcpu *vcpu);

/* Asks KVM to store registers, if it does not: another profiler may have ended, and put
 * the request back. Notes it in @requests. */
void vcpu_request(struct vcpu *vcpu, pid_t pid, struct request *requests);

/* Takes back that request. */
void vcpu_rest(struct vcpu *vcpu);

/* Whether the VMM still has it open. */
bool vcpu_is_open(const struct vcpu *vcpu, pid_t pid);

/* The thread's state as in struct proc_stat, and its times; 0 if the thread has ended. */
char vcpu_thread(struct vcpu *vcpu, uint64_t *ran, uint64_t *waited);

/*
 * Looks once for the threads of vCPUs that have none. A thread that runs must be stopped
 * for a moment to learn what it does. Returns the number of vCPUs that have none.
 */
size_t vcpus_find_threads(struct vcpu *vcpus, size_t count, pid_t pid,
			  struct trace *trace);

#endif

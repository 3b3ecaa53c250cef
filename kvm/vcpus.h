/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_VCPUS_H
#define UNIPROF_KVM_VCPUS_H

#include <linux/kvm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "kvm/internal.h"

/* Maximum number of vCPUs of a process; KVM's own limit is 1024 or 4096. */
#define VCPUS_MAX 4096

/* A VMM's descriptor of a vCPU. */
struct vcpu_fd {
	unsigned int number; /* KVM's number of the vCPU; there may be gaps */
	int fd;
};

/*
 * Lists the vCPUs of a VMM in the order of their numbers. A process without a VM, such as
 * another profiler, which has only vCPUs, is not a VMM. The caller frees the array, which
 * is NULL if there are none. -1 with errno set if the process is gone or may
 * not be inspected.
 */
int vcpus_list(pid_t pid, struct vcpu_fd **fds, size_t *count);

/* Whether two processes have one vCPU open as @fd: one is a fork of the other. */
bool vcpus_shared(pid_t a, pid_t b, int fd);

/* A vCPU of another process. */
struct vcpu {
	int theirs; /* the VMM's descriptor of the vCPU */
	int ours;   /* this process's duplicate of @theirs */
	/* The run page, shared with KVM and the VMM: nothing but kvm_valid_regs is ever
	 * written. */
	struct kvm_run *run;
	struct request *request;    /* NULL: none is free, nothing is requested */
	pid_t tid;		    /* the thread that runs the vCPU; 0: not known */
	int stat, schedstat, wchan; /* the thread's files in /proc; -1: none */
	bool keeps;		    /* requests are kept after a stop of the thread */
	bool met;    /* the thread was stopped on its way out of KVM_RUN before */
	bool stored; /* the run page has the registers of the last KVM_RUN */
	bool is_out; /* at the last stop, it was not in KVM_RUN, or left that for the VMM
		      */
	bool rests;  /* it is not stopped: on arm64, no CPU runs it, and its thread waits;
		      * on x86, it has not run since the last pause */
	bool known; /* x86: its registers were captured in the last pause, or it rested */
	uint64_t exits;	    /* x86: before the last pause, as in struct kernel_vcpu */
	unsigned int index; /* arm64: as in struct kernel_vcpu */
	uint64_t waits; /* what its blocked thread waited for in KVM_RUN, exit_make() */
	struct traced traced;
	uint64_t waited; /* time waited for a CPU by the last observation, ns */
	pid_t watched;	 /* the thread whose events are watched; 0: none */
	uint64_t before; /* the thread's CPU time before its events began, ns */
	uint64_t peeked; /* exits, as in struct kernel_vcpu, before kvm_peek() */
};

/*
 * Opens a vCPU, and adds it to @requests: 0, or -1 with errno set. It keeps the VM from
 * being freed until vcpu_close(), which also withdraws the request. @keeps: a request is
 * kept after a stop of the thread.
 */
int vcpu_open(struct vcpu *vcpu, pid_t pid, int pidfd, int fd, struct request *requests,
	      bool keeps);
void vcpu_close(struct vcpu *vcpu);

/* Asks KVM to store registers, just before the vCPU's thread is interrupted. Another
 * profiler may have withdrawn a request that both used. */
void vcpu_request(struct vcpu *vcpu);

/* Whether the run page has the registers of a vCPU whose thread has stopped. */
enum vcpu_registers {
	VCPU_NOT_STORED,
	VCPU_STORED_SOON, /* they can be requested now, for when the thread stops again */
	VCPU_STORED,
};

/* Looks at a vCPU whose thread has stopped. Finds out which registers the VMM asks for
 * itself, and withdraws the request, unless it is kept. */
enum vcpu_registers vcpu_look(struct vcpu *vcpu);

/* Looks at a vCPU whose thread is blocked, before it is stopped, or not stopped at all,
 * for what it waits for. */
void vcpu_look_blocked(struct vcpu *vcpu, pid_t pid);

/* Returns why a vCPU that is out of KVM_RUN has left it, by what KVM stored in the run
 * page, exit_make(); 0: not known. */
uint64_t vcpu_run_exit(const struct kvm_run *run);

/* Returns why a vCPU, of which vcpu_look() or, if it rests, vcpu_look_blocked() has
 * looked at the thread, was not in the guest's code (exit_make()); 0 if it was. @state:
 * before the stop. */
uint64_t vcpu_exit(const struct vcpu *vcpu, enum vcpu_state state);

/* Withdraws the request, if there is one. */
void vcpu_withdraw(struct vcpu *vcpu);

/* Whether the VMM still has the vCPU open. */
bool vcpu_is_open(const struct vcpu *vcpu, pid_t pid);

/* Returns the thread's state as in struct proc_stat, and sets the times that it ran and
 * waited for a CPU, ns; 0 if the thread has ended. */
char vcpu_thread(struct vcpu *vcpu, uint64_t *ran, uint64_t *waited);

/*
 * Looks once for the threads of vCPUs without one, for at most a second or until
 * host_is_over(). If the kernel can't be asked, a thread that runs must be stopped for a
 * moment to learn what it does.
 * Returns the number of vCPUs that still have none, and in @is_held whether another
 * process traced a thread, so that it could not be looked at.
 */
size_t vcpus_find_threads(struct vcpu *vcpus, size_t count, pid_t pid, struct kvm *kvm,
			  bool *is_held);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_REQUESTS_H
#define UNIPROF_KVM_REQUESTS_H

#include <linux/kvm.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * The requests to store registers (kvm_run.kvm_valid_regs) that this process has made in
 * run pages of VMMs, in memory shared with the guard, which withdraws them if this
 * process is killed.
 */

/* Maximum number of vCPUs whose requests are withdrawn if the recorder is killed. */
#define REQUESTS_MAX 1024

struct request {
	uint64_t bits;	/* bits that were not set before; 0: a free entry */
	uint64_t start; /* start time of the VMM, as PROC_START */
	pid_t pid;	/* pid of the VMM */
	int fd;		/* the VMM's descriptor of the vCPU */
};

/* Allocates the shared memory. NULL with the reason in @err on failure. */
struct request *requests_new(struct error *err);
void requests_free(struct request *requests);

/* Notes a request, before its bits are set. NULL if there is no free entry, or the
 * process is gone. */
struct request *requests_add(struct request *requests, pid_t pid, int fd, uint64_t bits);
/* Removes the note of a request whose bits were cleared. @request may be NULL. */
void requests_remove(struct request *request);

/* In the guard: clears all bits that are still set in run pages of existing VMMs. */
void requests_withdraw(struct request *requests);

/* Maps the run page of a vCPU, by a VMM's descriptor @fd of it, of which *@ours becomes a
 * duplicate. Needs the permission to trace the VMM. NULL with errno set on failure. */
struct kvm_run *run_page_map(int pidfd, int fd, int *ours);

/* Clears @bits of kvm_valid_regs. */
void run_page_clear(struct kvm_run *run, uint64_t bits);

/* Clears @bits of kvm_valid_regs, unmaps the page and closes its descriptor @ours. */
void run_page_unmap(struct kvm_run *run, int ours, uint64_t bits);

#endif

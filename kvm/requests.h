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

/* Of more vCPUs than these, the requests of a killed recorder remain. */
#define REQUESTS_MAX 1024

struct request {
	uint64_t bits;	/* that were not set before; 0: a free entry */
	uint64_t start; /* of the process, as in proc_parse_start() */
	pid_t pid;
	int fd; /* the vCPU, in that process */
};

/* NULL with the reason in @err on failure. */
struct request *requests_new(struct error *err);
void requests_free(struct request *requests);

/* Before the bits are set: a free entry, filled; NULL if there is none, or the process is
 * gone. */
struct request *requests_add(struct request *requests, pid_t pid, int fd, uint64_t bits);
/* After they were cleared. @request may be NULL. */
void requests_remove(struct request *request);

/* In the guard: clears all bits that are still set, of VMMs that still exist. */
void requests_withdraw(struct request *requests);

/* Maps the run page of a VMM's vCPU, which is @fd there; *@ours is a duplicate of that.
 * Needs the permission to trace the VMM. NULL with errno set on failure. */
struct kvm_run *run_page_map(int pidfd, int fd, int *ours);

/* Clears @bits of kvm_valid_regs. */
void run_page_clear(struct kvm_run *run, uint64_t bits);

/* The same, and unmaps the page and closes the duplicate. */
void run_page_unmap(struct kvm_run *run, int ours, uint64_t bits);

#endif

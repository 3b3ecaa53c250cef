/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_REQUESTS_H
#define UNIPROF_KVM_REQUESTS_H

#include <linux/kvm.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * Requests to store a vCPU's registers in its run page: bits of kvm_run.kvm_valid_regs,
 * which KVM reads when KVM_RUN returns (store_regs() in Linux's arch/x86/kvm/x86.c;
 * KVM_CAP_SYNC_REGS in Documentation/virt/kvm/api.rst).
 *
 * A VMM may use the word too. If one of its bits were cleared, it would take old
 * registers for its guest's, and might even write them back (kvm_dirty_regs, which is
 * never written here). Some VMMs set a bit before each KVM_RUN and clear it after, some
 * set it once, at any time; some assign the word, and some add to it
 * (VcpuFd::set_sync_valid_reg() of rust-vmm). A bit that is set twice does not show who
 * else has set it. So:
 *
 * - Nothing is requested before the VMM's thread was stopped once on its way out of
 *   KVM_RUN. What the word is there, the VMM has asked for. These bits are left to the
 *   VMM, and only the others are added, as long as the VMM has them at such stops.
 * - A bit is set just before the thread is interrupted, and cleared while it is stopped:
 *   the VMM's code hardly ever runs while the bit is set, so that what it does to the
 *   word at other times can be seen.
 * - Bits are cleared only if all other bits, less those that the VMM changes itself, are
 *   still as they were when the request was made. Else the VMM has written the word, and
 *   its value stays. KVM then does some work in vain; the VMM gets nothing wrong.
 *
 * What remains: a VMM that adds a bit to the word for the first time in the microseconds
 * in which the bit is set loses it. In recordings at 99 Hz, these are less than a
 * thousandth of the time. If the recorder is killed in them, the guard clears the bits.
 * And a VMM that adds to the word by more than one instruction, and is stopped between
 * its load and its store, stores bits again that were cleared meanwhile. They look like
 * its own from then on, so KVM stores registers in vain.
 *
 * Without a request, the page does not have the registers of a vCPU whose thread is in
 * the VMM's own code. For VMMs that are known never to use the word (vmm_syncs()),
 * requests are therefore kept until the guest rests or is closed.
 */

/* Maximum number of vCPUs that are sampled at once. */
#define REQUESTS_MAX 4096

/* A vCPU whose registers may be requested, in memory shared with the guard. */
struct request {
	uint64_t bits;	 /* bits that were added to the word; 0: nothing is requested */
	uint64_t left;	 /* the word as it was left when they were added */
	uint64_t theirs; /* bits that the VMM sets and clears itself */
	uint64_t start;	 /* start time of the VMM, as PROC_START */
	pid_t pid;	 /* pid of the VMM; 0: a free entry */
	int fd;		 /* the VMM's descriptor of the vCPU */
};

/* Allocates the shared memory. NULL with the reason in @err on failure. */
struct request *requests_new(struct error *err);
void requests_free(struct request *requests);

/* Adds a vCPU. NULL if there is no free entry, or the process is gone. */
struct request *requests_add(struct request *requests, pid_t pid, int fd);
/* Removes a vCPU for which nothing is requested. @request may be NULL. */
void requests_remove(struct request *request);

/* Adds @bits to kvm_valid_regs, unless it has changed and is not @before any more. */
void request_make(struct request *request, struct kvm_run *run, uint64_t before,
		  uint64_t bits);
/* Withdraws the request, if there is one. */
void request_withdraw(struct request *request, struct kvm_run *run);
/* In the guard: withdraws all requests in run pages of existing VMMs. */
void requests_withdraw(struct request *requests);

/* Reads kvm_valid_regs. */
uint64_t run_page_valid(const struct kvm_run *run);

/* Maps the run page of a vCPU, by a VMM's descriptor @fd of it, of which *@ours becomes a
 * duplicate. Needs the permission to trace the VMM. NULL with errno set on failure. */
struct kvm_run *run_page_map(int pidfd, int fd, int *ours);
/* Unmaps the page and closes its descriptor @ours. */
void run_page_unmap(struct kvm_run *run, int ours);

#endif

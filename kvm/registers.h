/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_REGISTERS_H
#define UNIPROF_KVM_REGISTERS_H

#include <linux/kvm.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/arch.h"
#include "guest/guest.h"
#include "kvm/bpf/kernel.h"
#include "kvm/bpf/watch.h"
#include "kvm/vcpus.h"

/* The bits of kvm_run.kvm_valid_regs that make KVM store the needed registers in the run
 * page whenever KVM_RUN returns (KVM_CAP_SYNC_REGS in Documentation/virt/kvm/api.rst). 0:
 * this CPU's KVM has none, and is asked for them: kvm_registers_ask(). */
uint64_t kvm_registers_wanted(void);

/* Where a vCPU's thread has stopped. */
enum kvm_stop {
	KVM_STOP_ELSEWHERE,   /* in the VMM's code or another system call */
	KVM_STOP_LEAVING,     /* on its way out of KVM_RUN, with an exit for the VMM */
	KVM_STOP_INTERRUPTED, /* on its way out of a KVM_RUN that a stop or a signal ended
			       */
};

/* Returns where the stopped thread @tid is, which runs the vCPU @fd. */
enum kvm_stop kvm_registers_stop(pid_t tid, int fd);

/* Returns whether KVM has stored registers in the run page since the vCPU was created. */
bool kvm_registers_exist(const struct kvm_run *run);

/* Converts the registers that KVM stored in the run page. */
void kvm_registers_take(const struct kvm_run *run, struct cpu *cpu);

/* Converts the registers that were seen at an event. False if they can't be known. */
bool kvm_registers_of_event(const struct watch_event *event, struct cpu *cpu);

/* When registers are asked for. */
enum kvm_moment {
	/* Only sets vcpu.rests. A stop would wake a halted vCPU on ARM, where WFI may end
	 * at any time; on x86, it would tell nothing new of a vCPU that has not run. */
	KVM_BEFORE_PAUSE,
	KVM_IN_PAUSE,	 /* for those of vCPUs that rest or whose threads are stopped */
	KVM_AFTER_PAUSE, /* only clears vcpu.rests */
	KVM_UNPAUSED,	 /* for those of vCPUs that no CPU runs anyway */
};

/* Asks KVM for the registers of the guest's wanted vCPUs, unless it stores them in run
 * pages. Returns whether some could not be read because a CPU runs the vCPU, or, after a
 * pause, whether a vCPU that seemed to rest has run. */
bool kvm_registers_ask(const struct kernel *kernel, struct vcpu *vcpus,
		       struct guest *guest, enum kvm_moment moment);

/* Checks that the registers of the guest called @name, which has these vCPUs, can be
 * read, which a guest may be protected from. */
int kvm_registers_check(const struct kernel *kernel, struct vcpu *vcpus,
			unsigned int count, const char *name, struct error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_REGISTERS_H
#define UNIPROF_KVM_REGISTERS_H

#include <linux/kvm.h>
#include <stdbool.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/arch.h"

/* The bits of kvm_run.kvm_valid_regs that make KVM store the needed registers in the run
 * page whenever KVM_RUN returns (KVM_CAP_SYNC_REGS in Documentation/virt/kvm/api.rst). 0:
 * this CPU's KVM has none. */
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

#endif

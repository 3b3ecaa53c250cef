/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_REGISTERS_H
#define UNIPROF_KVM_REGISTERS_H

#include <linux/kvm.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/arch.h"

/* The bits of kvm_run.kvm_valid_regs that make KVM store the needed registers in the run
 * page whenever KVM_RUN returns (KVM_CAP_SYNC_REGS in Documentation/virt/kvm/api.rst). 0:
 * this CPU's KVM has none. */
uint64_t kvm_registers_wanted(void);

/* Whether the stopped thread @tid is on its way out of KVM_RUN for the vCPU @fd. */
bool kvm_registers_in_run(pid_t tid, int fd);

/* Converts the registers that KVM stored in the run page. */
void kvm_registers_take(const struct kvm_run *run, struct cpu *cpu);

#endif

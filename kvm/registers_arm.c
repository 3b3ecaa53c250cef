/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/registers.h"

/* On ARM, KVM stores no registers in the run page, so that KVM can't be opened. */
uint64_t kvm_registers_wanted(void)
{
	return 0;
}

enum kvm_stop kvm_registers_stop(pid_t tid, int fd)
{
	(void)tid, (void)fd;
	return KVM_STOP_ELSEWHERE;
}

bool kvm_registers_exist(const struct kvm_run *run)
{
	(void)run;
	return false;
}

void kvm_registers_take(const struct kvm_run *run, struct cpu *cpu)
{
	(void)run, (void)cpu;
}

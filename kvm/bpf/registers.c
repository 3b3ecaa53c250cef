/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "kvm/bpf/kernel.h"

/* HCR_EL2: EL1 is AArch64 (Arm ARM, DDI 0487, section D17.2.48). */
#define HCR_RW (1ull << 31)

/* KVM keeps the registers of AArch32 in those of AArch64 to which the architecture maps
 * them. */
void kernel_registers_take(const struct kernel_registers *registers, struct cpu *cpu)
{
	struct arm_cpu *arm = &cpu->arm;

	cpu->family = CPU_FAMILY_ARM;
	memcpy(arm->x, registers->x, sizeof(arm->x));
	arm->pc = registers->pc;
	arm->cpsr = registers->pstate;
	arm->sp_el0 = registers->sp;
	arm->sctlr = registers->system[SYSTEM_SCTLR];
	arm->tcr = registers->system[SYSTEM_TCR];
	arm->ttbr0 = registers->system[SYSTEM_TTBR0];
	arm->ttbr1 = registers->system[SYSTEM_TTBR1];
	arm->sp_el1 = registers->traps & HCR_RW ? registers->system[SYSTEM_SP] : 0;
}

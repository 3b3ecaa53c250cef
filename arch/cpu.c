/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arch.h"

enum cpu_kind cpu_kind(const struct cpu *cpu)
{
	return cpu->family == CPU_FAMILY_ARM ? arm_kind(&cpu->arm) : x86_kind(&cpu->x86);
}

void cpu_unwind(const struct cpu *cpu, const struct guest_memory *memory,
		struct chain *chain)
{
	if (cpu->family == CPU_FAMILY_ARM)
		arm_unwind(&cpu->arm, memory, chain);
	else
		x86_unwind(&cpu->x86, memory, chain);
}

size_t cpu_registers(const struct cpu *cpu, struct register_value *values)
{
	return cpu->family == CPU_FAMILY_ARM ? arm_registers(&cpu->arm, values)
					     : x86_registers(&cpu->x86, values);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm/arm.h"

#include <string.h>

#define SPSEL 1ull /* in PSTATE: EL1 uses its own stack pointer, not EL0's */

uint64_t arm64_sp(const struct arm_cpu *cpu)
{
	return cpu->cpsr & SPSEL ? cpu->sp_el1 : cpu->sp_el0;
}

size_t arm64_registers(const struct arm_cpu *cpu, struct register_value *values)
{
	static const char *const names[ARM_REGISTERS] = {
		"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",
		"x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
		"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
		"x24", "x25", "x26", "x27", "x28", "x29", "x30",
	};
	const struct register_value others[] = {
		{"sp", arm64_sp(cpu)}, {"pc", cpu->pc},	  {"pstate", cpu->cpsr},
		{"sctlr", cpu->sctlr}, {"tcr", cpu->tcr}, {"ttbr0", cpu->ttbr0},
		{"ttbr1", cpu->ttbr1},
	};

	for (size_t i = 0; i < ARM_REGISTERS; i++)
		values[i] = (struct register_value){names[i], cpu->x[i]};
	memcpy(values + ARM_REGISTERS, others, sizeof(others));
	return ARM_REGISTERS + sizeof(others) / sizeof(others[0]);
}

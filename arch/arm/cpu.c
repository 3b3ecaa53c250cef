/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm/cpu.h"

#include <string.h>

/* The registers of a vCPU in AArch32 and in AArch64 state. */

/* The indexes in x of the banked registers of a mode, CPSR's bits 3 to 0 (Arm ARM,
 * DDI 0487, sections D1.20.1 and G1.9.1). Modes that a guest can't be in have the banked
 * registers of user mode. */
struct bank {
	unsigned int sp, lr, r8;
};

static struct bank bank_of(const struct arm_cpu *cpu)
{
	switch (cpu->cpsr & 0xf) {
	case 1: /* FIQ */
		return (struct bank){29, 30, 24};
	case 2: /* IRQ */
		return (struct bank){17, 16, 8};
	case 3: /* supervisor */
		return (struct bank){19, 18, 8};
	case 7: /* abort */
		return (struct bank){21, 20, 8};
	case 11: /* undefined */
		return (struct bank){23, 22, 8};
	default:
		return (struct bank){13, 14, 8};
	}
}

uint32_t arm32_fp(const struct arm_cpu *cpu, bool is_thumb)
{
	return (uint32_t)
		cpu->x[is_thumb ? ARM32_FP_THUMB : bank_of(cpu).r8 + ARM32_FP - 8];
}

uint32_t arm32_sp(const struct arm_cpu *cpu)
{
	return (uint32_t)cpu->x[bank_of(cpu).sp];
}

uint32_t arm32_lr(const struct arm_cpu *cpu)
{
	return (uint32_t)cpu->x[bank_of(cpu).lr];
}

static size_t arm32_registers(const struct arm_cpu *cpu, struct register_value *values)
{
	static const char *const names[] = {"r0", "r1", "r2", "r3",  "r4",  "r5", "r6",
					    "r7", "r8", "r9", "r10", "r11", "r12"};
	const struct bank bank = bank_of(cpu);
	const struct register_value others[] = {
		{"sp", cpu->x[bank.sp]}, {"lr", cpu->x[bank.lr]}, {"pc", cpu->pc},
		{"cpsr", cpu->cpsr},	 {"sctlr", cpu->sctlr},	  {"ttbcr", cpu->tcr},
		{"ttbr0", cpu->ttbr0},	 {"ttbr1", cpu->ttbr1},
	};
	size_t count = 0;

	for (; count < sizeof(names) / sizeof(names[0]); count++)
		values[count] = (struct register_value){
			names[count], cpu->x[count < 8 ? count : bank.r8 + count - 8]};
	memcpy(values + count, others, sizeof(others));
	return count + sizeof(others) / sizeof(others[0]);
}

#define SPSEL 1ull /* in PSTATE: EL1 uses its own stack pointer, not EL0's */

uint64_t arm64_sp(const struct arm_cpu *cpu)
{
	return cpu->cpsr & SPSEL ? cpu->sp_el1 : cpu->sp_el0;
}

static size_t arm64_registers(const struct arm_cpu *cpu, struct register_value *values)
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

size_t arm_registers(const struct arm_cpu *cpu, struct register_value *values)
{
	return arm_is_aarch32(cpu) ? arm32_registers(cpu, values)
				   : arm64_registers(cpu, values);
}

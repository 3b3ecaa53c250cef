/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm/arm.h"

#include <string.h>

/* The indexes in x of the banked registers of a mode, CPSR's bits 3 to 0 (Arm ARM,
 * DDI 0487, sections D1.20.1 and G1.9.1); those of user mode for modes that a guest can't
 * be in. */
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

size_t arm32_registers(const struct arm_cpu *cpu, struct register_value *values)
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

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_ARM_ARM_H
#define UNIPROF_ARCH_ARM_ARM_H

#include <stdbool.h>

#include "arch/arch.h"

/* Shared by the files on ARM here and in unwind/. */

static inline bool arm_is_aarch32(const struct arm_cpu *cpu)
{
	return cpu->cpsr & ARM_CPSR_AARCH32;
}

/* The number of bits of an AArch64 address that are translated, in the half selected by
 * bit 55; the bits above only select the half. */
unsigned int arm64_address_bits(const struct arm_cpu *cpu, bool upper);

/* AArch64: the vCPU's current stack pointer. */
uint64_t arm64_sp(const struct arm_cpu *cpu);

/* AArch32's frame pointers: r11, and r7 in Thumb code. */
#define ARM32_FP_THUMB 7
#define ARM32_FP       11

/* Registers, possibly banked, of the current mode of a vCPU in AArch32 state. */
uint32_t arm32_fp(const struct arm_cpu *cpu, bool is_thumb);
uint32_t arm32_sp(const struct arm_cpu *cpu);
uint32_t arm32_lr(const struct arm_cpu *cpu);

/* Fills in the registers under their usual names; returns their number. */
size_t arm64_registers(const struct arm_cpu *cpu, struct register_value *values);
size_t arm32_registers(const struct arm_cpu *cpu, struct register_value *values);

#endif

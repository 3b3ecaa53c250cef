/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_ARM_CPU_H
#define UNIPROF_ARCH_ARM_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/common.h"
#include "base/guest.h"

#define ARM_REGISTERS 31

/*
 * One ARM vCPU in AArch64 or AArch32 state. AArch32 registers are stored in the AArch64
 * registers to which the architecture maps them (Arm ARM, DDI 0487, section D1.20.1 in
 * issue J.a): r0 to r12 are x0 to x12, followed by the banked ones.
 */
struct arm_cpu {
	uint64_t x[ARM_REGISTERS];
	uint64_t pc, cpsr;
	uint64_t sp_el0, sp_el1; /* 0 if the guest's kernel is AArch32 */
	uint64_t sctlr;
	uint64_t tcr; /* TCR_EL1; TTBCR if the kernel is AArch32 */
	uint64_t ttbr0, ttbr1;
};

/* Bits of CPSR, or SPSR, and of SCTLR (Arm ARM, sections C5.2.19, D17.2.118). */
#define ARM_CPSR_THUMB	 (1ull << 5)
#define ARM_CPSR_AARCH32 (1ull << 4)
#define ARM_SCTLR_M	 (1ull << 0)

/* CPU_ARM64 or CPU_ARM32: the instruction set of the guest's kernel. */
enum cpu_kind arm_kind(const struct arm_cpu *cpu);

/*
 * Like x86_translate(), for stage 1 of ARM's translation; with the MMU off, addresses are
 * physical. AArch64 (Arm ARM, chapter D8): granules of 4, 16 and 64 KiB, addresses of up
 * to 52 bits (LPA, LPA2), tagged addresses (TBI), blocks. AArch32 (chapter G5): short and
 * long (LPAE) descriptors. Tables and data are little-endian.
 */
enum translation arm_translate(const struct arm_cpu *cpu,
			       const struct guest_memory *memory, uint64_t address,
			       uint64_t *frame);

static inline bool arm_is_aarch32(const struct arm_cpu *cpu)
{
	return cpu->cpsr & ARM_CPSR_AARCH32;
}

/* The number of bits of an AArch64 address that are translated, in the half selected by
 * bit 55; the bits above only select the half. */
unsigned int arm64_address_bits(const struct arm_cpu *cpu, bool upper);

/* An AArch64 address without its tag or its pointer authentication code, which are in the
 * upper bits that are not translated, except bit 55 (Arm ARM, section D8.9). */
uint64_t arm64_strip(const struct arm_cpu *cpu, uint64_t address);

/* AArch64: the vCPU's current stack pointer. */
uint64_t arm64_sp(const struct arm_cpu *cpu);

/* AArch32's frame pointers: r11, and r7 in Thumb code. */
#define ARM32_FP_THUMB 7
#define ARM32_FP       11

/* Registers, possibly banked, of the current mode of a vCPU in AArch32 state. */
uint32_t arm32_fp(const struct arm_cpu *cpu, bool is_thumb);
uint32_t arm32_sp(const struct arm_cpu *cpu);
uint32_t arm32_lr(const struct arm_cpu *cpu);

/* The address space in use, as cpu_space(). */
uint64_t arm_space(const struct arm_cpu *cpu);

/* Fills @values as cpu_registers(). */
size_t arm_registers(const struct arm_cpu *cpu, struct register_value *values);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_ARM_H
#define UNIPROF_ARCH_ARM_H

#include "arch/reader.h"

/* What the files on ARM share; for arch/ alone. */

/* How many bits of an AArch64 address, in the half that bit 55 chooses, are looked up;
 * those above say nothing but which half it is. */
unsigned int arm64_address_bits(const struct arm_cpu *cpu, bool upper);

/* Instructions that are looked at to find out how the sampled function is left, and jumps
 * that are followed: before and after each, they reach into one further page at most. */
#define ARM_CODE_STEPS 256
#define ARM_CODE_JUMPS (UNWIND_CODE_PAGES_MAX / 2 - 1)

void arm64_unwind(struct reader *reader, struct chain *chain);
void arm32_unwind(struct reader *reader, struct chain *chain);

/* Fills in the registers that people know, and says how many there are. */
size_t arm64_registers(const struct arm_cpu *cpu, struct register_value *values);
size_t arm32_registers(const struct arm_cpu *cpu, struct register_value *values);

#endif

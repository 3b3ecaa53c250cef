/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_ARM_H
#define UNIPROF_ARCH_ARM_H

#include "arch/reader.h"

/* What the files on ARM share; for arch/ alone. */

/* How many bits of an AArch64 address, in the half that bit 55 chooses, are looked up;
 * those above say nothing but which half it is. */
unsigned int arm64_address_bits(const struct arm_cpu *cpu, bool upper);

/* Instructions that are looked at to find out about the link register, and jumps that
 * are followed: before and after each, they reach into one further page at most. */
#define ARM_CODE_STEPS 256
#define ARM_CODE_JUMPS (UNWIND_CODE_PAGES_MAX / 2 - 1)

/* What the code from an address on shows of the link register and the frame there. */
struct arm32_link {
	bool is_live; /* it holds the return address, which no frame does */
	/* The function has a frame all the same; it holds the caller's frame pointer, so
	 * many bytes above its own. Else the frame pointer is the caller's. */
	bool has_frame;
	unsigned int slot;
};

struct arm32_link arm32_link(struct reader *reader, uint32_t address, bool is_thumb);

/* Whether @address, with bit 0 set for Thumb, is one that a call returns to. */
bool arm32_is_after_call(struct reader *reader, uint32_t address);

void arm64_unwind(struct reader *reader, struct chain *chain);
void arm32_unwind(struct reader *reader, struct chain *chain);

/* Fills in the registers that people know, and says how many there are. */
size_t arm64_registers(const struct arm_cpu *cpu, struct register_value *values);
size_t arm32_registers(const struct arm_cpu *cpu, struct register_value *values);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm/arm.h"

size_t arm_registers(const struct arm_cpu *cpu, struct register_value *values)
{
	return arm_is_aarch32(cpu) ? arm32_registers(cpu, values)
				   : arm64_registers(cpu, values);
}

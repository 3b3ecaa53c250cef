/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/linux/kernel_seen.h"

#include "symbols/symbols.h"

uint64_t kernel_code(const struct chain *chain)
{
	uint64_t address = chain->count && !chain->is_stack ? chain->address[0] : 0;

	if (address >= LINUX_START)
		return address < LINUX_END ? address : 0;
	return address >= ARM64_KERNEL && address < LINUX_START ? address : 0;
}

void kernel_seen_note(struct kernel_seen *seen, const struct cpu *cpu,
		      const struct chain *chain)
{
	uint64_t code = kernel_code(chain);

	if (!code)
		return;
	seen->code = code;
	seen->cpu = *cpu;
}

bool kernel_seen_maps(const struct kernel_seen *seen, const struct cpu *cpu)
{
	if (!seen->code || cpu->family != seen->cpu.family)
		return false;
	return cpu->family == CPU_FAMILY_ARM || cpu_space(cpu) == cpu_space(&seen->cpu);
}

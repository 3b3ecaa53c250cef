/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arch.h"

#include <string.h>

enum cpu_kind cpu_kind(const struct cpu *cpu)
{
	switch (cpu->family) {
	case CPU_FAMILY_RISCV:
		return CPU_RISCV64;
	case CPU_FAMILY_ARM:
		return arm_kind(&cpu->arm);
	case CPU_FAMILY_X86:
		break;
	}
	return x86_kind(&cpu->x86);
}

bool cpu_has_started(const struct cpu *cpu)
{
	return cpu->family != CPU_FAMILY_X86 || !x86_is_reset(&cpu->x86);
}

bool cpu_is_in_firmware(const struct cpu *cpu)
{
	return cpu->family == CPU_FAMILY_X86 && x86_is_in_firmware(&cpu->x86);
}

uint64_t cpu_space(const struct cpu *cpu)
{
	switch (cpu->family) {
	case CPU_FAMILY_RISCV:
		return riscv_space(&cpu->riscv);
	case CPU_FAMILY_ARM:
		return arm_space(&cpu->arm);
	case CPU_FAMILY_X86:
		break;
	}
	return x86_space(&cpu->x86);
}

enum translation cpu_translate(const struct cpu *cpu, const struct guest_memory *memory,
			       uint64_t address, uint64_t *frame)
{
	switch (cpu->family) {
	case CPU_FAMILY_RISCV:
		return riscv_translate(&cpu->riscv, memory, address, frame);
	case CPU_FAMILY_ARM:
		return arm_translate(&cpu->arm, memory, address, frame);
	case CPU_FAMILY_X86:
		break;
	}
	return x86_translate(&cpu->x86, memory, address, frame);
}

bool cpu_read(const struct cpu *cpu, const struct guest_memory *memory, uint64_t address,
	      void *to, size_t size)
{
	size_t at = address & (GUEST_PAGE_SIZE - 1);
	const uint8_t *page;
	uint64_t frame;

	if (at + size > GUEST_PAGE_SIZE ||
	    cpu_translate(cpu, memory, address, &frame) != TRANSLATED)
		return false;
	page = memory->page(memory->context, frame);
	if (!page)
		return false;
	memcpy(to, page + at, size);
	return true;
}

bool cpu_copy(const struct cpu *cpu, const struct guest_memory *memory, uint64_t address,
	      void *to, size_t size)
{
	while (size) {
		size_t part = GUEST_PAGE_SIZE - address % GUEST_PAGE_SIZE;

		part = part < size ? part : size;
		if (!cpu_read(cpu, memory, address, to, part))
			return false;
		address += part;
		to = (uint8_t *)to + part;
		size -= part;
	}
	return true;
}

bool cpu_is_executable(const struct cpu *cpu, const struct guest_memory *memory,
		       uint64_t address)
{
	return cpu->family != CPU_FAMILY_X86 ||
	       x86_is_executable(&cpu->x86, memory, address);
}

size_t cpu_registers(const struct cpu *cpu, struct register_value *values)
{
	switch (cpu->family) {
	case CPU_FAMILY_RISCV:
		return riscv_registers(&cpu->riscv, values);
	case CPU_FAMILY_ARM:
		return arm_registers(&cpu->arm, values);
	case CPU_FAMILY_X86:
		break;
	}
	return x86_registers(&cpu->x86, values);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/machine.h"

#include <elf.h>
#include <stdio.h>

#include "report/text.h"

static enum cpu_kind cpu_of(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return CPU_X86_64;
	case EM_386:
		return CPU_X86_32;
	case EM_AARCH64:
		return CPU_ARM64;
	case EM_ARM:
		return CPU_ARM32;
	default:
		return CPU_UNKNOWN;
	}
}

static bool is_x86(uint64_t cpu)
{
	return cpu == CPU_X86_64 || cpu == CPU_X86_32;
}

static bool is_arm(uint64_t cpu)
{
	return cpu == CPU_ARM64 || cpu == CPU_ARM32;
}

enum machine_match machine_compare(const struct symbols_file *file,
				   const struct recording_domain *domain,
				   struct error *why)
{
	enum cpu_kind cpu = cpu_of(file->machine);
	char name[sizeof(domain->name)], other[24];

	if (file->machine == EM_NONE || domain->cpu == CPU_UNKNOWN || domain->cpu == cpu)
		return MACHINE_FITS;
	text_clean(name, domain->name);
	snprintf(other, sizeof(other), "CPU type %u", file->machine);
	error_set(why, "%s is for %s, but the domain %s ran on %s", file->path,
		  cpu == CPU_UNKNOWN ? other : cpu_kind_name(cpu), name,
		  cpu_kind_name((unsigned int)domain->cpu));
	/*
	 * Loaders that know ELF32 only are given 64-bit code in such a file, a domain
	 * that is recorded as it boots is in 32-bit mode first, and 64-bit kernels run
	 * programs of 32 bits.
	 */
	if ((is_x86(cpu) && is_x86(domain->cpu)) || (is_arm(cpu) && is_arm(domain->cpu)))
		return MACHINE_DOUBTS;
	return MACHINE_WRONG;
}

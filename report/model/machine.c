/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/machine.h"

#include <elf.h>
#include <stdio.h>

#include "base/text.h"
#include "symbols/program.h"

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
	enum cpu_kind cpu = program_cpu(file->machine);
	char name[sizeof(domain->name)], other[24];

	/* A later version may have more CPU types. */
	if (file->machine == EM_NONE || domain->cpu == CPU_UNKNOWN ||
	    domain->cpu > CPU_RISCV64 || domain->cpu == cpu)
		return MACHINE_FITS;
	text_clean(name, domain->name);
	snprintf(other, sizeof(other), "CPU type %u", file->machine);
	error_set(why, "%s is for %s, but the domain %s ran on %s", file->path,
		  cpu == CPU_UNKNOWN ? other : cpu_kind_name(cpu), name,
		  cpu_kind_name((unsigned int)domain->cpu));
	/*
	 * 64-bit code is put in ELF32 files for loaders that support nothing else, a
	 * domain that is recorded while it boots is in 32-bit mode first, and 64-bit
	 * kernels run 32-bit programs.
	 */
	if ((is_x86(cpu) && is_x86(domain->cpu)) || (is_arm(cpu) && is_arm(domain->cpu)))
		return MACHINE_DOUBTS;
	return MACHINE_WRONG;
}

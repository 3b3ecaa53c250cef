/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/linux/kernel_types.h"

/* Maximum size of the types; Debian's kernel 6.1 has 4 MB. */
#define TYPES_MAX ((size_t)32 << 20)

void kernel_types_free(struct kernel_types *types)
{
	kernel_copy_end(&types->copy);
}

void kernel_types_find(struct kernel_types *types, const struct kallsyms *kallsyms)
{
	/* Linux, include/asm-generic/vmlinux.lds.h */
	static const char *const names[] = {"__start_BTF", "__stop_BTF"};
	uint64_t at[2];

	if (types->copy.size || types->layouts.tasks.per_cpu)
		return;
	kallsyms_addresses(kallsyms, names, 2, at);
	if (!at[0] || at[1] <= at[0] || at[1] - at[0] > TYPES_MAX)
		return;
	kallsyms_addresses(kallsyms, linux_symbols, LINUX_SYMBOLS, types->symbols);
	types->copy.part[0] = (struct kernel_part){at[0], at[1] - at[0]};
	kernel_copy_begin(&types->copy);
}

bool kernel_types_look(struct kernel_types *types, const struct cpu *cpu,
		       const struct guest_memory *memory, uint64_t now)
{
	if ((cpu_kind(cpu) != CPU_X86_64 && cpu_kind(cpu) != CPU_ARM64) ||
	    !kernel_copy_look(&types->copy, cpu, memory, now))
		return false;
	linux_layouts_make(&types->layouts, types->copy.bytes, types->copy.size,
			   types->symbols);
	kernel_copy_end(&types->copy);
	return true;
}

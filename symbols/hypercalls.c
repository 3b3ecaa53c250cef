/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "symbols/symbols.h"

/* Bytes of each hypercall in the page that Xen fills in */
#define HYPERCALL_SIZE 32

/* By number (Xen, xen/include/public/xen.h, __HYPERVISOR_*) */
static const char *const hypercalls[] = {
	"[hypercall set_trap_table]",
	"[hypercall mmu_update]",
	"[hypercall set_gdt]",
	"[hypercall stack_switch]",
	"[hypercall set_callbacks]",
	"[hypercall fpu_taskswitch]",
	"[hypercall sched_op_compat]",
	"[hypercall platform_op]",
	"[hypercall set_debugreg]",
	"[hypercall get_debugreg]",
	"[hypercall update_descriptor]",
	NULL,
	"[hypercall memory_op]",
	"[hypercall multicall]",
	"[hypercall update_va_mapping]",
	"[hypercall set_timer_op]",
	"[hypercall event_channel_op_compat]",
	"[hypercall xen_version]",
	"[hypercall console_io]",
	"[hypercall physdev_op_compat]",
	"[hypercall grant_table_op]",
	"[hypercall vm_assist]",
	"[hypercall update_va_mapping_otherdomain]",
	"[hypercall iret]",
	"[hypercall vcpu_op]",
	"[hypercall set_segment_base]",
	"[hypercall mmuext_op]",
	"[hypercall xsm_op]",
	"[hypercall nmi_op]",
	"[hypercall sched_op]",
	"[hypercall callback_op]",
	"[hypercall xenoprof_op]",
	"[hypercall event_channel_op]",
	"[hypercall physdev_op]",
	"[hypercall hvm_op]",
	"[hypercall sysctl]",
	"[hypercall domctl]",
	"[hypercall kexec_op]",
	"[hypercall tmem_op]",
	"[hypercall argo_op]",
	"[hypercall xenpmu_op]",
	"[hypercall dm_op]",
	"[hypercall hypfs_op]",
};

#define HYPERCALLS (sizeof(hypercalls) / sizeof(hypercalls[0]))

static bool is_page(const char *name)
{
	return strcmp(name, "hypercall_page") == 0 ||
	       strcmp(name, "xen_hypercall_page") == 0;
}

/* Returns the number of the hypercall that the function makes; HYPERCALLS if it is none.
 */
static size_t stub_number(const char *function)
{
	static const char start[] = "HYPERVISOR_", shown[] = "[hypercall ";
	size_t size, number = 0;

	if (strncmp(function, start, sizeof(start) - 1) != 0)
		return HYPERCALLS;
	function += sizeof(start) - 1;
	for (size = strlen(function); number < HYPERCALLS; number++) {
		const char *name = hypercalls[number] ?: shown;

		name += sizeof(shown) - 1;
		if (strncmp(name, function, size) == 0 && strcmp(name + size, "]") == 0)
			break;
	}
	return number;
}

void symbols_find_hypercall(struct symbol *symbol, uint64_t address, enum cpu_kind kind)
{
	bool is_in_page = is_page(symbol->name);
	uint64_t number = HYPERCALLS;

	if (is_in_page)
		number = (address - symbol->start) / HYPERCALL_SIZE;
	else if (kind == CPU_ARM64 || kind == CPU_ARM32)
		number = stub_number(symbol->name);
	if (number >= HYPERCALLS || !hypercalls[number])
		return;
	symbol->start += is_in_page ? number * HYPERCALL_SIZE : 0;
	symbol->name = hypercalls[number];
	symbol->mangled = NULL;
}

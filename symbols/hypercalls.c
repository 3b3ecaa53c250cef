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

void symbols_find_hypercall(struct symbol *symbol, uint64_t address)
{
	uint64_t number = (address - symbol->start) / HYPERCALL_SIZE;

	if (number >= sizeof(hypercalls) / sizeof(hypercalls[0]) || !hypercalls[number] ||
	    (strcmp(symbol->name, "hypercall_page") != 0 &&
	     strcmp(symbol->name, "xen_hypercall_page") != 0))
		return;
	symbol->name = hypercalls[number];
	symbol->mangled = NULL;
	symbol->start += number * HYPERCALL_SIZE;
}

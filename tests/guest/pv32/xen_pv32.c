/* Requests to Xen specific to 32-bit PV guests: start, additional vCPUs. */
#include "guest.h"

#include <xen/xen.h>
#include <xen/vcpu.h>

#include "hypercall.h"

static struct shared_info *shared_info;
static const struct start_info *start_info;

const char *xen_init(const void *info, bool pv)
{
	(void)pv;
	start_info = info;
	memory_init((const unsigned long *)start_info->mfn_list);
	xen_console_init(
		memory_map_slot(SLOT_CONSOLE,
				(uint64_t)start_info->console.domU.mfn * PAGE_SIZE),
		start_info->console.domU.evtchn);
	shared_info = memory_map_slot(SLOT_SHARED_INFO, start_info->shared_info);
	return (const char *)start_info->cmd_line;
}

const char *xen_mode(void)
{
	return "pv32";
}

const void *xen_shared_info(void)
{
	return shared_info;
}

long xen_start_vcpu(unsigned int vcpu, void *stack_top)
{
	static struct vcpu_guest_context context;
	uint64_t root = memory_address((const void *)start_info->pt_base);
	long err;

	shared_info->vcpu_info[vcpu].evtchn_upcall_mask = 1;
	context.flags = VGCF_in_kernel;
	context.user_regs.eip = (unsigned long)secondary_start;
	context.user_regs.esp = (unsigned long)stack_top;
	context.user_regs.edi = vcpu;
	context.user_regs.cs = FLAT_KERNEL_CS;
	context.user_regs.ss = FLAT_KERNEL_SS;
	context.user_regs.ds = FLAT_KERNEL_DS;
	context.user_regs.es = FLAT_KERNEL_DS;
	context.kernel_ss = FLAT_KERNEL_SS;
	context.kernel_sp = (unsigned long)stack_top;
	context.ctrlreg[3] = xen_pfn_to_cr3((unsigned long)(root / PAGE_SIZE));
	err = hypercall(__HYPERVISOR_vcpu_op, VCPUOP_initialise, vcpu,
			(unsigned long)&context, 0);
	if (err)
		return err;
	return hypercall(__HYPERVISOR_vcpu_op, VCPUOP_up, vcpu, 0, 0);
}

/* There are no attacks in this guest. */
void hostile_init(const char *name)
{
	print("hostile=%s is ignored", name);
}

void hostile_spell(uint64_t time)
{
	(void)time;
}

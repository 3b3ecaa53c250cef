/* Requests to Xen specific to x86: kind of guest, additional vCPUs. */
#include "guest.h"

#include <xen/xen.h>
#include <xen/hvm/hvm_info_table.h>
#include <xen/hvm/hvm_vcpu.h>
#include <xen/hvm/params.h>
#include <xen/memory.h>
#include <xen/sched.h>
#include <xen/vcpu.h>
#include <xen/arch-x86/cpuid.h>
#include <xen/arch-x86/hvm/start_info.h>

#include "hypercall.h"

static struct shared_info *shared_info;
static const struct start_info *pv_info;
static const struct hvm_info_table *hvm_info; /* NULL unless HVM */

/* Lets Xen fill the page of hypercalls. xen/include/public/arch-x86/cpuid.h: leaf base +
 * 2 has the number of the MSR to write its address to. */
static void fill_hypercall_page(void)
{
	uint32_t base, eax, ebx, ecx, edx;
	uint64_t page = virt_to_phys(hypercall_page);

	for (base = XEN_CPUID_FIRST_LEAF; base < XEN_CPUID_FIRST_LEAF + 0x10000;
	     base += 0x100) {
		eax = base;
		asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "=c"(ecx), "=d"(edx));
		if (ebx == XEN_CPUID_SIGNATURE_EBX && ecx == XEN_CPUID_SIGNATURE_ECX &&
		    edx == XEN_CPUID_SIGNATURE_EDX)
			break;
	}
	eax = base + 2;
	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "=c"(ecx), "=d"(edx));
	asm volatile("wrmsr"
		     :
		     : "c"(ebx), "a"((uint32_t)page), "d"((uint32_t)(page >> 32))
		     : "memory");
}

/* Xen's tools write the table for HVM guests only; in a PVH guest, there are zeros. */
static const struct hvm_info_table *find_hvm_info(void)
{
	static const char signature[] = "HVM INFO";
	const struct hvm_info_table *info = phys_to_virt(HVM_INFO_PADDR);

	for (size_t i = 0; i < sizeof(info->signature); i++)
		if (info->signature[i] != signature[i])
			return NULL;
	return info;
}

/*
 * An HVM guest starts with its MTRRs off, so with memory uncached; the firmware must turn
 * them on. (For PVH, Xen's tools do it: tools/libs/guest/xg_dom_x86.c.) Intel
 * SDM vol. 3A, 11.11.2.1: IA32_MTRR_DEF_TYPE, MTRRs on, write-back.
 */
static void cache_memory(void)
{
	asm volatile("wrmsr" : : "c"(0x2ff), "a"(1 << 11 | 6), "d"(0) : "memory");
}

/* The value of cr3 for page tables under Xen: the machine frame of the top table. */
static uint64_t pv_cr3(void)
{
	const unsigned long *p2m = (const unsigned long *)pv_info->mfn_list;
	const void *root = (const void *)pv_info->pt_base;

	return xen_pfn_to_cr3(p2m[virt_to_phys(root) / PAGE_SIZE]);
}

static const char *init_pv(const struct start_info *info)
{
	pv_info = info;
	memory_init((uint64_t *)info->pt_base, (const unsigned long *)info->mfn_list);
	xen_console_init(
		memory_map_slot(SLOT_CONSOLE, info->console.domU.mfn * PAGE_SIZE),
		info->console.domU.evtchn);
	shared_info = memory_map_slot(SLOT_SHARED_INFO, info->shared_info);
	return (const char *)info->cmd_line;
}

static const char *init_pvh(const struct hvm_start_info *info)
{
	uint64_t console;

	fill_hypercall_page();
	memory_init(boot_l4, NULL);
	hvm_info = find_hvm_info();
	if (hvm_info)
		cache_memory();
	console = xen_hvm_param(HVM_PARAM_CONSOLE_PFN) * PAGE_SIZE;
	xen_console_init(memory_map_slot(SLOT_CONSOLE, console),
			 xen_hvm_param(HVM_PARAM_CONSOLE_EVTCHN));
	xen_add_to_physmap(XENMAPSPACE_shared_info,
			   memory_slot_phys(SLOT_SHARED_INFO) / PAGE_SIZE);
	shared_info = memory_map_slot(SLOT_SHARED_INFO,
				      memory_slot_phys(SLOT_SHARED_INFO));
	/* Firmware gets no command line. */
	if (hvm_info)
		return hvm_info->nr_vcpus > 1 ? "smp=1" : "";
	return info->cmdline_paddr ? phys_to_virt(info->cmdline_paddr) : "";
}

const char *xen_init(const void *start_info, bool pv)
{
	/* A PVH guest gets its start_info by physical address. */
	return pv ? init_pv(start_info) : init_pvh(phys_to_virt((uint64_t)start_info));
}

const char *xen_mode(void)
{
	return pv_info ? "pv" : hvm_info ? "hvm" : "pvh";
}

static long init_vcpu_pv(unsigned int vcpu, void *stack_top)
{
	static struct vcpu_guest_context context;

	shared_info->vcpu_info[vcpu].evtchn_upcall_mask = 1;
	context.flags = VGCF_in_kernel;
	context.user_regs.rip = (unsigned long)secondary_start;
	context.user_regs.rsp = (unsigned long)stack_top;
	context.user_regs.rdi = vcpu;
	context.user_regs.cs = FLAT_KERNEL_CS;
	context.user_regs.ss = FLAT_KERNEL_SS;
	context.kernel_ss = FLAT_KERNEL_SS;
	context.kernel_sp = (unsigned long)stack_top;
	context.ctrlreg[3] = pv_cr3();
	return hypercall(__HYPERVISOR_vcpu_op, VCPUOP_initialise, vcpu,
			 (unsigned long)&context, 0);
}

static long init_vcpu_pvh(unsigned int vcpu, void *stack_top)
{
	static struct vcpu_hvm_context context;
	struct vcpu_hvm_x86_64 *regs = &context.cpu_regs.x86_64;

	context.mode = VCPU_HVM_MODE_64B;
	regs->rip = (unsigned long)secondary_start;
	regs->rsp = (unsigned long)stack_top;
	regs->rdi = vcpu;
	regs->rflags = 2; /* bit 1 is always set, interrupts are off */
	asm volatile("mov %%cr0, %0" : "=r"(regs->cr0));
	asm volatile("mov %%cr3, %0" : "=r"(regs->cr3));
	asm volatile("mov %%cr4, %0" : "=r"(regs->cr4));
	regs->efer = 0x500; /* long mode enabled and active: SDM vol. 3A, 2.2.1 */
	return hypercall(__HYPERVISOR_vcpu_op, VCPUOP_initialise, vcpu,
			 (unsigned long)&context, 0);
}

long xen_start_vcpu(unsigned int vcpu, void *stack_top)
{
	long err = pv_info ? init_vcpu_pv(vcpu, stack_top)
			   : init_vcpu_pvh(vcpu, stack_top);

	if (err)
		return err;
	return hypercall(__HYPERVISOR_vcpu_op, VCPUOP_up, vcpu, 0, 0);
}

const void *xen_shared_info(void)
{
	return shared_info;
}

long xen_allow_table_writes(void)
{
	return hypercall(__HYPERVISOR_vm_assist, VMASST_CMD_enable,
			 VMASST_TYPE_writable_pagetables, 0, 0);
}

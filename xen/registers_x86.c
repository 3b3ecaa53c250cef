/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/registers.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <xen/hvm/save.h>

#include "xen/hypercall.h"

/* A bit of a segment's attributes, which are bits 40 to 47 and 52 to 55 of its descriptor
 * (Intel SDM, volume 3, section 3.4.5; xen/arch/x86/include/asm/hvm/hvm.h). */
#define SEGMENT_LONG (1u << 9)
/* The bit of SEGMENT_LONG in the descriptor itself; the bit of a selector by which its
 * table is the LDT. */
#define DESCRIPTOR_LONG	 ((uint64_t)1 << 53)
#define SELECTOR_LDT	 4
#define PAGE_DESCRIPTORS (GUEST_PAGE_SIZE / sizeof(uint64_t))

/* xen/include/public/arch-x86/xen-x86_64.h, struct cpu_user_regs */
static void take_general(const struct cpu_user_regs *regs, struct x86_cpu *cpu)
{
	const uint64_t in_order[X86_REGISTERS] = {
		regs->rax, regs->rcx, regs->rdx, regs->rbx, regs->rsp, regs->rbp,
		regs->rsi, regs->rdi, regs->r8,	 regs->r9,  regs->r10, regs->r11,
		regs->r12, regs->r13, regs->r14, regs->r15,
	};

	memcpy(cpu->reg, in_order, sizeof(in_order));
	cpu->rip = regs->rip;
	cpu->rflags = regs->rflags;
	cpu->cs = regs->cs;
	cpu->ss = regs->ss;
}

static void take_pv(const vcpu_guest_context_t *context, struct x86_cpu *cpu)
{
	bool in_kernel = context->flags & VGCF_in_kernel;

	take_general(&context->user_regs, cpu);
	cpu->cr0 = context->ctrlreg[0] | X86_CR0_PG;
	/* Xen uses a separate page table for a PV guest's user mode, which the context
	 * has in place of cr1 (arch-x86/xen.h). */
	cpu->cr3 = in_kernel || !context->ctrlreg[1] ? context->ctrlreg[3]
						     : context->ctrlreg[1];
	cpu->kernel_cr3 = context->ctrlreg[3];
	cpu->cr4 = X86_CR4_PAE;
	cpu->efer = X86_EFER_LMA | X86_EFER_NXE; /* as Xen has it for all PV guests */
}

/*
 * The context of a 32-bit PV guest, which a 64-bit Xen gives in the layout of 32-bit
 * code: struct vcpu_guest_context in xen/include/public/arch-x86/xen.h, and struct
 * cpu_user_regs in xen-x86_32.h.
 */
struct context_32 {
	uint8_t fpu[512];
	uint32_t flags;
	uint32_t ebx, ecx, edx, esi, edi, ebp, eax;
	uint16_t error_code, entry_vector;
	uint32_t eip;
	uint16_t cs, upcall_mask;
	uint32_t eflags, esp;
	uint16_t ss, pad, other_segments[8];
	uint32_t traps[256][2], ldt[2], gdt_frames[16], gdt_entries, kernel_stack[2];
	uint32_t ctrlreg[8];
};
_Static_assert(offsetof(struct context_32, ctrlreg) == 2716, "as compiled with -m32");
_Static_assert(sizeof(struct context_32) <= sizeof(vcpu_guest_context_t), "fits");

/* Kernel and user mode share a table. */
static void take_pv_32(const struct context_32 *context, struct x86_cpu *cpu)
{
	const uint64_t in_order[X86_REGISTERS] = {
		context->eax, context->ecx, context->edx, context->ebx,
		context->esp, context->ebp, context->esi, context->edi,
	};
	uint32_t cr3 = context->ctrlreg[3];

	memcpy(cpu->reg, in_order, sizeof(in_order));
	cpu->rip = context->eip;
	cpu->rflags = context->eflags;
	cpu->cs = context->cs;
	cpu->ss = context->ss;
	cpu->cr0 = context->ctrlreg[0] | X86_CR0_PG;
	/* The upper bits of the frame's number are below the others (xen_cr3_to_pfn() in
	 * xen-x86_32.h). */
	cpu->cr3 = (uint64_t)(cr3 >> 12 | cr3 << 20) << GUEST_PAGE_SHIFT;
	cpu->kernel_cr3 = cpu->cr3;
	cpu->cr4 = X86_CR4_PAE;
	cpu->efer = 0;
}

/* EFER is not in the context. */
static void take_hvm(const vcpu_guest_context_t *context, struct x86_cpu *cpu)
{
	take_general(&context->user_regs, cpu);
	cpu->cr0 = context->ctrlreg[0];
	cpu->cr3 = context->ctrlreg[3];
	cpu->cr4 = context->ctrlreg[4];
}

/* What is known of a code segment; NULL if nothing is. */
static const struct code_segment *segment_of(const struct vcpu_mode *mode,
					     uint64_t selector)
{
	for (unsigned int i = 0; i < CODE_SEGMENTS; i++)
		if (mode->code[i].is_known && mode->code[i].selector == selector)
			return &mode->code[i];
	return NULL;
}

static void add_segment(struct vcpu_mode *mode, uint64_t selector, bool is_64)
{
	if (!segment_of(mode, selector))
		mode->code[mode->codes++ % CODE_SEGMENTS] = (struct code_segment){
			true, is_64, (uint16_t)selector};
}

static bool is_compat(const struct vcpu_mode *mode, const struct x86_cpu *cpu)
{
	const struct code_segment *segment = segment_of(mode, cpu->cs);

	return cpu->efer & X86_EFER_LMA && segment && !segment->is_64;
}

void registers_take(const struct xen *xen, enum guest_type type,
		    const vcpu_guest_context_t *context, const struct vcpu_mode *mode,
		    struct cpu *cpu)
{
	(void)xen;
	cpu->family = CPU_FAMILY_X86;
	if (type == GUEST_PV && mode->is_pv_32) {
		take_pv_32((const void *)context, &cpu->x86);
	} else if (type == GUEST_PV) {
		take_pv(context, &cpu->x86);
	} else {
		take_hvm(context, &cpu->x86);
		cpu->x86.efer = mode->efer;
	}
	cpu->x86.is_compat = is_compat(mode, &cpu->x86);
}

static int fetch_cpu(struct xen *xen, struct xen_domctl *domctl)
{
	int status = xen_domctl(xen, domctl);
	uint64_t buffer = domctl->u.hvmcontext_partial.bufsz;

	if (status != -EFAULT)
		return status;
	/* Until Xen 4.9, the call had the buffer in place of the size. */
	memcpy(&buffer, &domctl->u.hvmcontext_partial.buffer, sizeof(buffer));
	domctl->u.hvmcontext_partial.bufsz = buffer;
	return xen_domctl(xen, domctl);
}

/* Fetches the state that Xen would save, valid until the next call; NULL if it can't be
 * had.
 */
static const struct hvm_hw_cpu *fetch_saved(struct xen *xen, uint32_t domain,
					    uint32_t vcpu)
{
	/* The first half of the scratch page is for the domctl itself. */
	struct hvm_hw_cpu *saved = (void *)((char *)xen->scratch + GUEST_PAGE_SIZE / 2);
	struct xen_domctl domctl;

	_Static_assert(sizeof(*saved) <= GUEST_PAGE_SIZE / 2, "fits in half a page");
	xen_domctl_init(xen, &domctl, XEN_DOMCTL_gethvmcontext_partial, domain);
	domctl.u.hvmcontext_partial.type = HVM_SAVE_CODE(CPU);
	domctl.u.hvmcontext_partial.instance = vcpu;
	domctl.u.hvmcontext_partial.bufsz = sizeof(*saved);
	set_xen_guest_handle_raw(domctl.u.hvmcontext_partial.buffer, (uint8_t *)saved);
	return fetch_cpu(xen, &domctl) == 0 ? saved : NULL;
}

/* EFER.LMA follows CR0.PG (Intel SDM, volume 3, section 9.8.5). */
bool registers_learn_mode(struct xen *xen, uint32_t domain, uint32_t vcpu,
			  struct cpu *cpu, struct vcpu_mode *mode)
{
	uint64_t cr0 = cpu->x86.cr0 & X86_CR0_PG;
	uint64_t cr4 = cpu->x86.cr4 & (X86_CR4_PAE | X86_CR4_LA57);
	bool is_same = mode->known && mode->cr0 == cr0 && mode->cr4 == cr4;
	bool was_compat = cpu->x86.is_compat;
	const struct hvm_hw_cpu *saved;

	if (is_same && (!(mode->efer & X86_EFER_LMA) || segment_of(mode, cpu->x86.cs)))
		return false;
	if (!is_same)
		*mode = (struct vcpu_mode){.known = true, .cr0 = cr0, .cr4 = cr4};
	saved = fetch_saved(xen, domain, vcpu);
	if (saved) {
		mode->efer = saved->msr_efer;
		/* The guest has run since: this need not be the sampled segment. */
		add_segment(mode, saved->cs_sel, saved->cs_arbytes & SEGMENT_LONG);
	} else {
		if (!is_same && cr0 && cr4 & X86_CR4_PAE)
			mode->efer = X86_EFER_LMA; /* by far the most likely */
		add_segment(mode, cpu->x86.cs, true);
	}
	cpu->x86.efer = mode->efer;
	cpu->x86.is_compat = is_compat(mode, &cpu->x86);
	return !is_same || cpu->x86.is_compat != was_compat;
}

/* The guest's descriptor tables are in pages that Xen has checked. The last entries of
 * the GDT are Xen's own (xen/include/public/arch-x86/xen-x86_64.h). */
bool registers_learn_segment(const vcpu_guest_context_t *context,
			     const struct guest_memory *memory, struct cpu *cpu,
			     struct vcpu_mode *mode)
{
	uint64_t selector = cpu->x86.cs, index = selector / sizeof(uint64_t), descriptor;
	const uint64_t *page;
	bool is_64 = selector != FLAT_RING3_CS32;

	if (mode->is_pv_32 || segment_of(mode, selector))
		return false;
	if (index < FIRST_RESERVED_GDT_ENTRY && index < context->gdt_ents &&
	    !(selector & SELECTOR_LDT)) {
		page = memory->page(memory->context,
				    context->gdt_frames[index / PAGE_DESCRIPTORS]);
		if (!page)
			return false;
		memcpy(&descriptor, &page[index % PAGE_DESCRIPTORS], sizeof(descriptor));
		is_64 = descriptor & DESCRIPTOR_LONG;
	}
	add_segment(mode, selector, is_64);
	cpu->x86.is_compat = is_compat(mode, &cpu->x86);
	return cpu->x86.is_compat;
}

enum cpu_kind registers_kind(enum guest_type type, const struct vcpu_mode *mode)
{
	if (type != GUEST_PV)
		return CPU_UNKNOWN;
	return mode->is_pv_32 ? CPU_X86_32 : CPU_X86_64;
}

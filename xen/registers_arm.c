/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/registers.h"

/* The domctl interface version of Xen 4.16, which made some registers wider. */
#define DOMCTL_WIDER 0x14

/* vcpu_guest_context as it was before (xen/include/public/arch-arm.h). */
struct narrow_context {
	uint32_t flags;
	uint64_t x[ARM_REGISTERS], pc;
	uint32_t cpsr, spsr[5];
	uint64_t sp_el0, sp_el1, elr_el1;
	uint32_t sctlr;
	uint64_t ttbcr, ttbr0, ttbr1;
};

_Static_assert(sizeof(struct narrow_context) == 344, "as Xen had it");
_Static_assert(sizeof(vcpu_guest_context_t) == 352, "needs headers of Xen 4.16 or newer");

static void take_narrow(const struct narrow_context *context, struct arm_cpu *cpu)
{
	for (unsigned int i = 0; i < ARM_REGISTERS; i++)
		cpu->x[i] = context->x[i];
	cpu->pc = context->pc;
	cpu->cpsr = context->cpsr;
	cpu->sp_el0 = context->sp_el0;
	cpu->sp_el1 = context->sp_el1;
	cpu->sctlr = context->sctlr;
	cpu->tcr = context->ttbcr;
	cpu->ttbr0 = context->ttbr0;
	cpu->ttbr1 = context->ttbr1;
}

static void take_wide(const vcpu_guest_context_t *context, struct arm_cpu *cpu)
{
	const struct vcpu_guest_core_regs *regs = &context->user_regs;
	const uint64_t in_order[ARM_REGISTERS] = {
		regs->x0,  regs->x1,  regs->x2,	 regs->x3,  regs->x4,  regs->x5,
		regs->x6,  regs->x7,  regs->x8,	 regs->x9,  regs->x10, regs->x11,
		regs->x12, regs->x13, regs->x14, regs->x15, regs->x16, regs->x17,
		regs->x18, regs->x19, regs->x20, regs->x21, regs->x22, regs->x23,
		regs->x24, regs->x25, regs->x26, regs->x27, regs->x28, regs->x29,
		regs->x30,
	};

	for (unsigned int i = 0; i < ARM_REGISTERS; i++)
		cpu->x[i] = in_order[i];
	cpu->pc = regs->pc64;
	cpu->cpsr = regs->cpsr;
	cpu->sp_el0 = regs->sp_el0;
	cpu->sp_el1 = regs->sp_el1;
	cpu->sctlr = context->sctlr;
	cpu->tcr = context->ttbcr;
	cpu->ttbr0 = context->ttbr0;
	cpu->ttbr1 = context->ttbr1;
}

void registers_take(const struct xen *xen, enum guest_type type,
		    const vcpu_guest_context_t *context, const struct vcpu_mode *mode,
		    struct cpu *cpu)
{
	(void)type; /* there is one only */
	(void)mode;
	cpu->family = CPU_FAMILY_ARM;
	if (xen->domctl_version < DOMCTL_WIDER)
		take_narrow((const void *)context, &cpu->arm);
	else
		take_wide(context, &cpu->arm);
}

bool registers_learn_mode(struct xen *xen, uint32_t domain, uint32_t vcpu,
			  struct cpu *cpu, struct vcpu_mode *mode)
{
	(void)xen;
	(void)domain;
	(void)vcpu;
	(void)cpu;
	(void)mode;
	return false; /* the context has it all */
}

enum cpu_kind registers_kind(enum guest_type type)
{
	(void)type;
	return CPU_UNKNOWN;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/registers.h"

#include <string.h>

/* The domctl interface version of Xen 4.16, which made some registers wider. */
#define DOMCTL_WIDER 0x14

/* The earlier vcpu_guest_context (xen/include/public/arch-arm.h). */
struct narrow_context {
	uint32_t flags;
	uint64_t x[ARM_REGISTERS], pc;
	uint32_t cpsr, spsr[5];
	uint64_t sp_el0, sp_el1, elr_el1;
	uint32_t sctlr;
	uint64_t ttbcr, ttbr0, ttbr1;
};

_Static_assert(sizeof(struct narrow_context) == 344, "size of the earlier structure");
_Static_assert(sizeof(vcpu_guest_context_t) == 352, "needs headers of Xen 4.16 or newer");

/* Copies the registers that have one name in both structures. In the later structure,
 * some are in a structure of their own, @core. */
#define TAKE_ALIKE(cpu, core, system)           \
	do {                                    \
		(cpu)->cpsr = (core)->cpsr;     \
		(cpu)->sp_el0 = (core)->sp_el0; \
		(cpu)->sp_el1 = (core)->sp_el1; \
		(cpu)->sctlr = (system)->sctlr; \
		(cpu)->tcr = (system)->ttbcr;   \
		(cpu)->ttbr0 = (system)->ttbr0; \
		(cpu)->ttbr1 = (system)->ttbr1; \
	} while (0)

static void take_narrow(const struct narrow_context *context, struct arm_cpu *cpu)
{
	memcpy(cpu->x, context->x, sizeof(cpu->x));
	cpu->pc = context->pc;
	TAKE_ALIKE(cpu, context, context);
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

	memcpy(cpu->x, in_order, sizeof(cpu->x));
	cpu->pc = regs->pc64;
	TAKE_ALIKE(cpu, regs, context);
}

void registers_take(const struct xen *xen, enum guest_type type,
		    const vcpu_guest_context_t *context, const struct vcpu_mode *mode,
		    struct cpu *cpu)
{
	(void)type; /* there is only one type of guest */
	(void)mode;
	cpu->family = CPU_FAMILY_ARM;
	if (xen->host.domctl_version < DOMCTL_WIDER)
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
	return false; /* everything is in the context */
}

bool registers_learn_segment(const vcpu_guest_context_t *context,
			     const struct guest_memory *memory, struct cpu *cpu,
			     struct vcpu_mode *mode)
{
	(void)context;
	(void)memory;
	(void)cpu;
	(void)mode;
	return false; /* there are no segments */
}

enum cpu_kind registers_kind(enum guest_type type, const struct vcpu_mode *mode)
{
	(void)type;
	(void)mode;
	return CPU_UNKNOWN;
}

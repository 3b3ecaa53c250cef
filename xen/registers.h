/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_REGISTERS_H
#define UNIPROF_XEN_REGISTERS_H

#include <stdbool.h>

#include "arch/arch.h"
#include "xen/internal.h"

/*
 * What Xen says of a vCPU, in the terms of the CPU. Xen's structures differ from CPU to
 * CPU: of the files xen/registers_*.c, the Makefile takes that of the CPU that the
 * program is built for.
 */

/* What the context does not have, and what shows that it may have changed. Zeros: not
 * known yet. */
struct vcpu_mode {
	bool known;
	uint64_t cr0, cr4; /* x86: the bits that choose the mode */
	uint64_t efer;	   /* and what they chose */
};

void registers_take(const struct xen *xen, enum guest_type type,
		    const vcpu_guest_context_t *context, const struct vcpu_mode *mode,
		    struct cpu *cpu);

/*
 * Finds out what of @mode is not known, or may have changed, for the vCPU that was last
 * seen with the registers @cpu, and puts it into both. True when there was something.
 * It may pause the domain for a moment.
 */
bool registers_learn_mode(struct xen *xen, uint32_t domain, uint32_t vcpu,
			  struct cpu *cpu, struct vcpu_mode *mode);

/* The kind of CPU that all guests of this type have; CPU_UNKNOWN when they differ. */
enum cpu_kind registers_kind(enum guest_type type);

#endif

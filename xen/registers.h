/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_REGISTERS_H
#define UNIPROF_XEN_REGISTERS_H

#include <stdbool.h>

#include "arch/arch.h"
#include "xen/internal.h"

/*
 * Converts Xen's context of a vCPU to struct cpu. Xen's structures differ between CPUs:
 * of the files xen/registers_*.c, the Makefile selects that of the target CPU.
 */

#define CODE_SEGMENTS 4

struct code_segment {
	bool is_known, is_64;
	uint16_t selector;
};

/* State that is not in the context, and the bits that show that it may have changed. All
 * zeros: not known yet. That of a PV guest does not change. */
struct vcpu_mode {
	bool known;
	uint64_t cr0, cr4; /* x86: the bits that choose the mode */
	uint64_t efer;	   /* and what they chose */
	/* x86: in long mode, the segments that were seen last, and how many were seen */
	struct code_segment code[CODE_SEGMENTS];
	unsigned int codes;
	bool is_pv_32; /* x86: set by the caller, see xen_domain_is_pv_32() */
};

void registers_take(const struct xen *xen, enum guest_type type,
		    const vcpu_guest_context_t *context, const struct vcpu_mode *mode,
		    struct cpu *cpu);

/*
 * Queries the parts of @mode that are unknown or may have changed, for the vCPU whose
 * last registers are @cpu, and updates both. True if there were any. May pause the domain
 * for a moment.
 */
bool registers_learn_mode(struct xen *xen, uint32_t domain, uint32_t vcpu,
			  struct cpu *cpu, struct vcpu_mode *mode);

/*
 * The same for a PV guest, whose mode does not change: whether its code segment is one of
 * 32-bit code, read from its descriptor table by @memory. A segment of the LDT is taken
 * for 64-bit code. @context is what @cpu was taken from.
 */
bool registers_learn_segment(const vcpu_guest_context_t *context,
			     const struct guest_memory *memory, struct cpu *cpu,
			     struct vcpu_mode *mode);

/* The kind of CPU that a guest of this type has whatever it does; CPU_UNKNOWN if that is
 * not known before its registers. */
enum cpu_kind registers_kind(enum guest_type type, const struct vcpu_mode *mode);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_REGISTERS_H
#define UNIPROF_XEN_REGISTERS_H

#include <stdbool.h>

#include "arch/arch.h"
#include "xen/internal.h"

/*
 * Converts Xen's context of a vCPU to struct cpu. Xen's structures differ between CPUs:
 * the Makefile selects the file xen/registers_*.c of the target CPU.
 */

#define CODE_SEGMENTS 4

struct code_segment {
	bool is_known, is_64;
	uint16_t selector;
};

/* A vCPU's state that is not in its context, and the bits that show that it may have
 * changed. All zeros: not known yet. A PV guest's does not change. */
struct vcpu_mode {
	bool known;
	uint64_t cr0, cr4; /* x86: the bits that choose the mode */
	uint64_t efer;	   /* x86: the mode that they chose */
	/* x86: in long mode, the segments seen last, and the number of segments ever seen
	 */
	struct code_segment code[CODE_SEGMENTS];
	unsigned int codes;
	bool is_pv_32; /* x86: set by the caller, see xen_domain_is_pv_32() */
};

/* Converts @context, with what @mode says, to @cpu. */
void registers_take(const struct xen *xen, enum guest_type type,
		    const vcpu_guest_context_t *context, const struct vcpu_mode *mode,
		    struct cpu *cpu);

/*
 * Queries the parts of @mode that are unknown or may have changed, for the vCPU whose
 * last registers are @cpu, and updates both. True if a part was queried. May pause the
 * domain for a moment.
 */
bool registers_learn_mode(struct xen *xen, uint32_t domain, uint32_t vcpu,
			  struct cpu *cpu, struct vcpu_mode *mode);

/*
 * Finds out whether the code segment of a PV guest's vCPU is one of 32-bit code, read
 * from its descriptor table by @memory, and updates @mode and @cpu, which was taken from
 * @context. A segment of the LDT is taken for 64-bit code. True if it is 32-bit code, and
 * was not known to be.
 */
bool registers_learn_segment(const vcpu_guest_context_t *context,
			     const struct guest_memory *memory, struct cpu *cpu,
			     struct vcpu_mode *mode);

/* The kind of CPU that a guest of this type has whatever it does; CPU_UNKNOWN if that is
 * not known before its registers. */
enum cpu_kind registers_kind(enum guest_type type, const struct vcpu_mode *mode);

#endif

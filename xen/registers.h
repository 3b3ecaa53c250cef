/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_REGISTERS_H
#define UNIPROF_XEN_REGISTERS_H

#include "arch/arch.h"
#include "xen/internal.h"

/* What Xen says of a vCPU, in the terms of the CPU. */
void registers_from_pv(const vcpu_guest_context_t *context, struct x86_cpu *cpu);
/* @efer is the caller's to set: Xen's context has it not. */
void registers_from_hvm(const vcpu_guest_context_t *context, struct x86_cpu *cpu);

/* EFER of an HVM or PVH guest's vCPU, from the state that Xen would save; pauses
 * the domain for a moment. 0, or -errno. */
int registers_fetch_efer(struct xen *xen, uint32_t domain, uint32_t vcpu, uint64_t *efer);

#endif

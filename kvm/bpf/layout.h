/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_BPF_LAYOUT_H
#define UNIPROF_KVM_BPF_LAYOUT_H

#include <stdbool.h>

#include "base/error.h"
#include "kvm/bpf/programs.h"

/* Finds where the members of the running kernel's structures are, by its own description
 * of its types. @has_registers: the members that program_registers() needs are looked
 * for, too; only arm64 kernels have them. */
int kernel_layout_find(struct kernel_layout *layout, bool has_registers,
		       struct error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_BPF_TYPES_H
#define UNIPROF_KVM_BPF_TYPES_H

#include "base/error.h"
#include "tables/linux/btf.h"

/* The running kernel's description of its types (BTF). */
struct kernel_types {
	struct btf kernel, module;
	uint8_t *data, *module_data;
	const struct btf *all; /* with the module's, if it is one and has them */
};

/* Reads the types of the kernel and of @module: 0, or -1 with nothing held. */
int kernel_types_open(struct kernel_types *types, const char *module, struct error *err);
void kernel_types_close(struct kernel_types *types);

#endif

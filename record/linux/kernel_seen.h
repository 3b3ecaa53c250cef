/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LINUX_KERNEL_SEEN_H
#define UNIPROF_RECORD_LINUX_KERNEL_SEEN_H

#include "arch/arch.h"
#include "base/chain.h"

/* The start of the addresses of a kernel's code on arm64 (Linux,
 * Documentation/arch/arm64/memory.rst). */
#define ARM64_KERNEL 0xffff800000000000u

/*
 * The last sample of a vCPU in a Linux kernel: where its code is, and registers by which
 * its memory can be read also while vCPUs run programs. A program's own page tables may
 * lack the kernel (page-table isolation). Starts as zeros.
 */
struct kernel_seen {
	uint64_t code; /* address of the sampled instruction; 0: no such sample yet */
	struct cpu cpu;
};

/* Returns the first address of the chain if it may be in a kernel's code; else 0. */
uint64_t kernel_code(const struct chain *chain);

/* Keeps the registers @cpu of a sample with this chain, if it is in the kernel. */
void kernel_seen_note(struct kernel_seen *seen, const struct cpu *cpu,
		      const struct chain *chain);

/* Returns whether the page tables of the kept registers are in use for sure, since a vCPU
 * with the registers @cpu is in the same process. On arm64, the kernel has its own, for
 * good. */
bool kernel_seen_maps(const struct kernel_seen *seen, const struct cpu *cpu);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_BPF_KERNEL_H
#define UNIPROF_KVM_BPF_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/error.h"
#include "kvm/bpf/programs.h"

/*
 * What only the kernel knows of a VM: its memory slots, which say where the VMM has the
 * guest's memory, the threads of its vCPUs and, on arm64, their registers. Read by
 * programs of bpf(2) that are made for the running kernel by its own description of its
 * types (BTF), and run in this process when they are needed. Belongs to one thread.
 */
struct kernel;

/*
 * Loads the programs, which takes some 10 ms, and needs CAP_BPF and CAP_PERFMON, or
 * CAP_SYS_ADMIN; the functions below need no capability (Linux 5.19). NULL with the
 * reason in @err if there is no permission, or the kernel is too old or locked down.
 * @has_registers: kernel_registers() will be called; on arm64 only.
 */
struct kernel *kernel_open(bool has_registers, struct error *err);
void kernel_close(struct kernel *kernel);

/* Reads a vCPU, of which this process has the descriptor @fd. False if it can't be read.
 */
bool kernel_look(const struct kernel *kernel, int fd, struct kernel_vcpu *vcpu);

/*
 * Reads the memory slots of the VM of a vCPU, of which this process has the descriptor
 * @fd. The result changes with the next call. NULL if they can't be read, change at once
 * again, or are more than KERNEL_SLOTS_MAX; in this last case, *@too_many is set.
 */
const struct kernel_slots *kernel_slots(const struct kernel *kernel, int fd,
					bool *too_many);

/*
 * Reads registers of the vCPUs of a VM, of one of which this process has the descriptor
 * @fd: of up to KERNEL_BATCH vCPUs from the index @first on, a multiple of KERNEL_BATCH,
 * whose bit in @asked is set. A thread whose vCPU has no bit in @awake is stopped.
 * Registers are right if no CPU ran the vCPU before and after the read. The result, in
 * the order of indices, changes with the next call. NULL if they can't be read.
 */
const struct kernel_registers *kernel_registers(const struct kernel *kernel, int fd,
						unsigned int first, unsigned int asked,
						unsigned int awake);

/* Returns where the running kernel has the members of its structures. */
const struct kernel_layout *kernel_layout(const struct kernel *kernel);

/* Explains why bpf(2) has failed with @errnum: -1. */
int kernel_explain(int errnum, struct error *err);

/* Converts them; with an AArch32 kernel, too. */
void kernel_registers_take(const struct kernel_registers *registers, struct cpu *cpu);

#endif

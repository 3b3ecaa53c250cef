/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_ARCH_H
#define UNIPROF_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arm/cpu.h"
#include "arch/common.h"
#include "arch/riscv/cpu.h"
#include "arch/x86/cpu.h"
#include "base/guest.h"

/*
 * Everything specific to a CPU architecture: functions for any vCPU, which call those of
 * its family. Pure functions: they access a guest only through the pages provided by
 * their caller, never trust what they read there, and take bounded time whatever it
 * contains.
 */

/* One vCPU. */
struct cpu {
	enum cpu_family family; /* selects the member below */
	union {
		struct x86_cpu x86;
		struct arm_cpu arm;
		struct riscv_cpu riscv;
	};
};

enum cpu_kind cpu_kind(const struct cpu *cpu);

/* Returns whether the vCPU has executed anything since its reset, as far as its registers
 * tell; for CPUs other than x86, they are not asked. */
bool cpu_has_started(const struct cpu *cpu);
/* Whether the vCPU executes firmware, as far as its registers tell; for CPUs other than
 * x86, they are not asked. */
bool cpu_is_in_firmware(const struct cpu *cpu);

/*
 * The address space in use: the physical address of its first page table, without other
 * fields of the register. A process has it in its system calls, too, and no other process
 * that runs has it. 0 if paging is off.
 */
uint64_t cpu_space(const struct cpu *cpu);

/* Like x86_translate(), for any CPU. */
enum translation cpu_translate(const struct cpu *cpu, const struct guest_memory *memory,
			       uint64_t address, uint64_t *frame);

/* Copies @size bytes from @address, within one page; false if they cross into another
 * page, or are not mapped. */
bool cpu_read(const struct cpu *cpu, const struct guest_memory *memory, uint64_t address,
	      void *to, size_t size);

/* Copies @size bytes from @address, which may be in several pages; false if one of these
 * is not mapped. */
bool cpu_copy(const struct cpu *cpu, const struct guest_memory *memory, uint64_t address,
	      void *to, size_t size);

/* Whether code at @address can be executed, by the page tables of x86; for other CPUs,
 * they are not asked. */
bool cpu_is_executable(const struct cpu *cpu, const struct guest_memory *memory,
		       uint64_t address);

/* Fills @values, which has room for REGISTERS_MAX; returns the number of registers. */
size_t cpu_registers(const struct cpu *cpu, struct register_value *values);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_RISCV_CPU_H
#define UNIPROF_ARCH_RISCV_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/common.h"
#include "base/guest.h"

/* The registers of RISC-V's calling convention (psABI, "Register Convention"). */
enum {
	RISCV_RA = 1,
	RISCV_SP = 2,
	RISCV_FP = 8,
	RISCV_REGISTERS = 32
};

/* One hart of RV64. */
struct riscv_cpu {
	uint64_t x[RISCV_REGISTERS];
	uint64_t pc, satp;
	uint64_t priv; /* the privilege mode, by its encoding */
};

#define RISCV_MACHINE_MODE 3

/*
 * Like x86_translate(), for RISC-V (Privileged Architecture, version 20211203, sections
 * 4.3 to 4.6 and chapter 5): Bare, Sv39, Sv48, Sv57, all page sizes, Svnapot. In machine
 * mode, addresses are physical. A hypervisor's second stage is not followed.
 */
enum translation riscv_translate(const struct riscv_cpu *cpu,
				 const struct guest_memory *memory, uint64_t address,
				 uint64_t *frame);

/* The address space in use, as cpu_space(). */
uint64_t riscv_space(const struct riscv_cpu *cpu);

/* Fills @values as cpu_registers(). */
size_t riscv_registers(const struct riscv_cpu *cpu, struct register_value *values);

#endif

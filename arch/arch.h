/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_ARCH_H
#define UNIPROF_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/guest.h"

/*
 * Everything specific to a CPU architecture. Pure functions: they access a guest only
 * through the pages provided by their caller, never trust what they read there, and take
 * bounded time whatever it contains.
 */

#define GUEST_PAGE_SHIFT 12
#define GUEST_PAGE_SIZE	 (1u << GUEST_PAGE_SHIFT)

/* Where a guest's pages come from. */
struct guest_memory {
	/*
	 * The 4 KiB page with the guest frame number @frame (a machine frame for a PV
	 * guest), readable until the next call. NULL if it is not available; the reason
	 * is then in @context.
	 */
	const void *(*page)(void *context, uint64_t frame);
	void *context;
};

/* Maximum number of guest_memory.page() calls per address: 5 tables and the page. */
#define READ_PAGES_MAX (5 + 1)

/* How a translation ended. */
enum translation {
	TRANSLATED,
	NOT_PRESENT,   /* the guest maps nothing at that address */
	NOT_CANONICAL, /* not a valid address in this mode */
	NO_PAGE,       /* guest_memory.page() returned NULL */
};

/* The general registers in the order of their encoding (Intel SDM, volume 2,
 * section 2.2.1, table 2-2): rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ... */
enum {
	X86_RSP = 4,
	X86_RBP = 5,
	X86_REGISTERS = 16
};

/*
 * The relevant state of one x86 vCPU. For a PV guest, the control registers are Xen's:
 * the caller sets cr0, cr4 and efer according to the guest's mode (paging, PAE, long
 * mode), cr3 to the machine address of the current table, and kernel_cr3 to that of
 * kernel mode, which belongs to the same address space. Other guests have 0 there.
 */
struct x86_cpu {
	uint64_t reg[X86_REGISTERS];
	uint64_t rip, rflags;
	uint64_t cs, ss;
	uint64_t cr0, cr3, cr4, efer;
	uint64_t kernel_cr3;
	bool is_compat; /* 32-bit code in long mode: CS.L is 0 (SDM, vol. 3, 5.2.1) */
};

/* Control register bits (Intel SDM, volume 3, sections 2.5 and 2.2.1). */
#define X86_CR0_PE    (1ull << 0)
#define X86_CR0_PG    (1ull << 31)
#define X86_CR4_PSE   (1ull << 4)
#define X86_CR4_PAE   (1ull << 5)
#define X86_CR4_LA57  (1ull << 12)
#define X86_CR4_PCIDE (1ull << 17)
#define X86_EFER_LMA  (1ull << 10)
#define X86_FLAGS_VM  (1ull << 17)

/* Whether the vCPU executes code in real mode or virtual-8086 mode, where an address is
 * 16 times a selector, plus an offset (Intel SDM, volume 3, chapter 21). */
static inline bool x86_is_real(const struct x86_cpu *cpu)
{
	return !(cpu->cr0 & (X86_CR0_PE | X86_CR0_PG)) ||
	       (!(cpu->efer & X86_EFER_LMA) && cpu->rflags & X86_FLAGS_VM);
}

/* CPU_X86_64 or CPU_X86_32: the kind of the guest's kernel. In long mode, programs may
 * have 32-bit code. */
enum cpu_kind x86_kind(const struct x86_cpu *cpu);

/*
 * Finds the frame of the guest-virtual @address in the guest's page tables (Intel SDM,
 * volume 3, chapter 4): no paging, 32-bit, PAE, 4 and 5 levels, with all page sizes.
 * Protection bits are ignored.
 */
enum translation x86_translate(const struct x86_cpu *cpu,
			       const struct guest_memory *memory, uint64_t address,
			       uint64_t *frame);

#define ARM_REGISTERS 31

/*
 * One ARM vCPU in AArch64 or AArch32 state. AArch32 registers are stored in the AArch64
 * registers to which the architecture maps them (Arm ARM, DDI 0487, section D1.20.1 in
 * issue J.a): r0 to r12 are x0 to x12, followed by the banked ones.
 */
struct arm_cpu {
	uint64_t x[ARM_REGISTERS];
	uint64_t pc, cpsr;
	uint64_t sp_el0, sp_el1; /* 0 if the guest's kernel is AArch32 */
	uint64_t sctlr;
	uint64_t tcr; /* TCR_EL1; TTBCR if the kernel is AArch32 */
	uint64_t ttbr0, ttbr1;
};

/* Bits of CPSR, or SPSR, and of SCTLR (Arm ARM, sections C5.2.19, D17.2.118). */
#define ARM_CPSR_THUMB	 (1ull << 5)
#define ARM_CPSR_AARCH32 (1ull << 4)
#define ARM_SCTLR_M	 (1ull << 0)

/* CPU_ARM64 or CPU_ARM32: the instruction set of the guest's kernel. */
enum cpu_kind arm_kind(const struct arm_cpu *cpu);

/*
 * Like x86_translate(), for stage 1 of ARM's translation; with the MMU off, addresses are
 * physical. AArch64 (Arm ARM, chapter D8): granules of 4, 16 and 64 KiB, addresses of up
 * to 52 bits (LPA, LPA2), tagged addresses (TBI), blocks. AArch32 (chapter G5): short and
 * long (LPAE) descriptors. Tables and data are little-endian.
 */
enum translation arm_translate(const struct arm_cpu *cpu,
			       const struct guest_memory *memory, uint64_t address,
			       uint64_t *frame);

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

/*
 * The address space in use: the physical address of its first page table, without other
 * fields of that register. It is the same in a process and in its system calls, and tells
 * processes apart while they run. 0 if paging is off.
 */
uint64_t cpu_space(const struct cpu *cpu);
uint64_t x86_space(const struct x86_cpu *cpu);
uint64_t arm_space(const struct arm_cpu *cpu);
uint64_t riscv_space(const struct riscv_cpu *cpu);

/* Like x86_translate(), for any CPU. */
enum translation cpu_translate(const struct cpu *cpu, const struct guest_memory *memory,
			       uint64_t address, uint64_t *frame);

/* Copies @size bytes of one page; false if they are in two, or not mapped. */
bool cpu_read(const struct cpu *cpu, const struct guest_memory *memory, uint64_t address,
	      void *to, size_t size);

/* A register's name and value, for display. */
struct register_value {
	const char *name;
	uint64_t value;
};

#define REGISTERS_MAX 48

/* Fills @values, which holds REGISTERS_MAX; returns the number of registers. */
size_t cpu_registers(const struct cpu *cpu, struct register_value *values);
size_t x86_registers(const struct x86_cpu *cpu, struct register_value *values);
size_t arm_registers(const struct arm_cpu *cpu, struct register_value *values);
size_t riscv_registers(const struct riscv_cpu *cpu, struct register_value *values);

#endif

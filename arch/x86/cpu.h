/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_X86_CPU_H
#define UNIPROF_ARCH_X86_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/common.h"
#include "base/guest.h"

/* The general registers in the order of their encoding (Intel SDM, volume 2,
 * section 2.2.1, table 2-2): rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ... */
enum {
	X86_RCX = 1,
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
#define X86_EFER_NXE  (1ull << 11)
#define X86_FLAGS_VM  (1ull << 17)

/* Whether the vCPU executes code in real mode or virtual-8086 mode, where an address is
 * 16 times a selector, plus an offset (Intel SDM, volume 3, chapter 21). */
static inline bool x86_is_real(const struct x86_cpu *cpu)
{
	return !(cpu->cr0 & (X86_CR0_PE | X86_CR0_PG)) ||
	       (!(cpu->efer & X86_EFER_LMA) && cpu->rflags & X86_FLAGS_VM);
}

/* Whether the vCPU is about to execute its first instruction (Intel SDM, volume 3, table
 * 11-1). That is where a vCPU is that was never started. */
static inline bool x86_is_reset(const struct x86_cpu *cpu)
{
	return x86_is_real(cpu) && cpu->cs == 0xf000 && cpu->rip == 0xfff0;
}

/* Whether the vCPU executes 32-bit code of a PC's firmware, in the 128 KiB below 1 MiB
 * (as SeaBIOS does, src/config.h: BUILD_BIOS_ADDR). That is where the firmware leaves
 * vCPUs, halted, for a guest to start them. */
static inline bool x86_is_in_firmware(const struct x86_cpu *cpu)
{
	return (cpu->cr0 & (X86_CR0_PE | X86_CR0_PG)) == X86_CR0_PE &&
	       cpu->rip >= 0xe0000 && cpu->rip < 0x100000;
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

/* x86_translate(), faster for an address that is close to the last one. A guest that
 * changes its tables meanwhile may get the frame of before. */
enum translation x86_translate_near(const struct x86_cpu *cpu,
				    const struct guest_memory *memory,
				    struct last_table *last, uint64_t address,
				    uint64_t *frame);

/* Whether code at @address can be executed, as far as bit 63 of the page tables' entries
 * says. False if nothing is mapped there. */
bool x86_is_executable(const struct x86_cpu *cpu, const struct guest_memory *memory,
		       uint64_t address);

/* The address space in use, as cpu_space(). */
uint64_t x86_space(const struct x86_cpu *cpu);

/* Fills @values as cpu_registers(). */
size_t x86_registers(const struct x86_cpu *cpu, struct register_value *values);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_ARCH_H
#define UNIPROF_ARCH_ARCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/guest.h"

/*
 * What differs from one CPU to the next. Pure functions: they see a guest only
 * through the pages that their caller gives them, believe nothing that they
 * read there, and take a bounded time whatever it says.
 */

#define GUEST_PAGE_SHIFT 12
#define GUEST_PAGE_SIZE	 (1u << GUEST_PAGE_SHIFT)

/* Where a guest's pages come from. */
struct guest_memory {
	/*
	 * The 4 KiB page of guest frame number @frame (a machine frame for a
	 * PV guest), readable until the next call. NULL when it can't be had;
	 * @context then knows why.
	 */
	const void *(*page)(void *context, uint64_t frame);
	void *context;
	/* NULL, or where cpu_unwind() notes what it finds in the guest's code, not to
	 * read it again. */
	struct code_notes *notes;
};

#define CODE_NOTES 256

/* Thumb: what a function that goes on at an address has above its frame pointer. */
struct code_note {
	uint64_t ttbr0, ttbr1; /* whose code it is */
	uint32_t address, next, caller;
};

/* The notes are all 0 at first, and again where the code may have changed. */
struct code_notes {
	unsigned int budget; /* halfwords that may be looked at for each chain */
	struct code_note note[CODE_NOTES];
};

/* How a translation ended. */
enum translation {
	TRANSLATED,
	NOT_PRESENT,   /* the guest maps nothing at that address */
	NOT_CANONICAL, /* no address in this mode */
	NO_PAGE,       /* guest_memory.page() had no page for it */
};

/* The general registers in the order of their encoding (Intel SDM, volume 2,
 * section 2.2.1, table 2-2): rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ... */
enum {
	X86_RSP = 4,
	X86_RBP = 5,
	X86_REGISTERS = 16
};

/*
 * One x86 vCPU, as far as it matters here. A PV guest's control registers are
 * Xen's: the caller sets cr0, cr4 and efer to what the guest's mode amounts to
 * (paging, PAE, long mode), and cr3 to the machine address of the table in use.
 */
struct x86_cpu {
	uint64_t reg[X86_REGISTERS];
	uint64_t rip, rflags;
	uint64_t cs, ss;
	uint64_t cr0, cr3, cr4, efer;
};

/* Control register bits (Intel SDM, volume 3, sections 2.5 and 2.2.1). */
#define X86_CR0_PG   (1ull << 31)
#define X86_CR4_PSE  (1ull << 4)
#define X86_CR4_PAE  (1ull << 5)
#define X86_CR4_LA57 (1ull << 12)
#define X86_EFER_LMA (1ull << 10)

/* CPU_X86_64 or CPU_X86_32: which code the vCPU's mode runs. */
enum cpu_kind x86_kind(const struct x86_cpu *cpu);

/*
 * Finds the frame that the guest-virtual @address lies in, by the guest's own
 * page tables (Intel SDM, volume 3, chapter 4): no paging, 32-bit, PAE, 4 and
 * 5 levels, with all sizes of pages. Protections do not matter to a reader.
 */
enum translation x86_translate(const struct x86_cpu *cpu,
			       const struct guest_memory *memory, uint64_t address,
			       uint64_t *frame);

/*
 * Fills @chain from the frame pointer's chain: each frame holds the caller's
 * frame pointer and, above it, the return address (System V ABI for x86-64,
 * section 3.2.2). Where the sampled instruction stands in a function's first or
 * last instructions, the frame is not (or no longer) there; the return address
 * is then taken from the stack's top, so that no caller is left out.
 */
void x86_unwind(const struct x86_cpu *cpu, const struct guest_memory *memory,
		struct chain *chain);

#define ARM_REGISTERS 31

/*
 * One ARM vCPU in AArch64 or AArch32 state. The registers of AArch32 are those of
 * AArch64 that the architecture says they are seen as (Arm ARM, DDI 0487, section
 * D1.20.1 in issue J.a): r0 to r12 are x0 to x12, and the banked ones follow.
 */
struct arm_cpu {
	uint64_t x[ARM_REGISTERS];
	uint64_t pc, cpsr;
	uint64_t sp_el0, sp_el1; /* 0 in a guest whose kernel is AArch32 */
	uint64_t sctlr;
	uint64_t tcr; /* TCR_EL1; TTBCR where the kernel is AArch32 */
	uint64_t ttbr0, ttbr1;
};

/* Bits of CPSR, or SPSR, and of SCTLR (Arm ARM, sections C5.2.19, D17.2.118). */
#define ARM_CPSR_THUMB	 (1ull << 5)
#define ARM_CPSR_AARCH32 (1ull << 4)
#define ARM_SCTLR_M	 (1ull << 0)

/* CPU_ARM64 or CPU_ARM32: which code the guest's kernel is of. */
enum cpu_kind arm_kind(const struct arm_cpu *cpu);

/*
 * As x86_translate(), for the first stage of ARM's translation: with the MMU off
 * addresses are physical. AArch64 (Arm ARM, chapter D8): granules of 4, 16 and 64 KiB,
 * addresses of up to 52 bits (LPA, LPA2), tagged ones (TBI), blocks. AArch32 (chapter
 * G5): short descriptors and long ones (LPAE). Tables and data are little-endian.
 */
enum translation arm_translate(const struct arm_cpu *cpu,
			       const struct guest_memory *memory, uint64_t address,
			       uint64_t *frame);

/*
 * Fills @chain from the frame pointer's chain, without what pointer authentication
 * puts into return addresses, and without Thumb's bit 0. arch/arm64.c and arch/arm32.c
 * say which frames there are. Where the code from the sampled instruction on shows that
 * the return address is still, or again, in the link register, the caller is taken
 * from there.
 */
void arm_unwind(const struct arm_cpu *cpu, const struct guest_memory *memory,
		struct chain *chain);

enum cpu_family {
	CPU_FAMILY_X86,
	CPU_FAMILY_ARM,
};

/* One vCPU. */
struct cpu {
	enum cpu_family family; /* which of these it is */
	union {
		struct x86_cpu x86;
		struct arm_cpu arm;
	};
};

enum cpu_kind cpu_kind(const struct cpu *cpu);

/* The most calls of guest_memory.page() for one address: up to 5 tables and the page. */
#define READ_PAGES_MAX (5 + 1)

/*
 * The most calls of guest_memory.page() that cpu_unwind() makes, whatever the guest
 * holds. On x86 and AArch64 it reads two words of each frame after the first address; on
 * AArch32 words below and above the frame pointer and, where these don't tell how the
 * frame is laid out, the code before two addresses; of Thumb code, the code before three
 * addresses and four words. To these come the sampled code (UNWIND_CODE_PAGES_MAX), the
 * beginnings of Thumb's functions (UNWIND_BACK_PAGES_MAX) and, on x86, the stack's top.
 */
#define UNWIND_CODE_PAGES_MAX 8
#define UNWIND_BACK_PAGES_MAX 32
#define UNWIND_PAGES_MAX                                                         \
	((UNWIND_CODE_PAGES_MAX + UNWIND_BACK_PAGES_MAX + 8 * (CHAIN_MAX - 1)) * \
	 READ_PAGES_MAX)
/* The most that notes.budget can be, and what it is without notes. */
#define CODE_BUDGET_MAX	     (UNWIND_BACK_PAGES_MAX * GUEST_PAGE_SIZE / 2)
#define X86_UNWIND_PAGES_MAX ((2 + 2 * (CHAIN_MAX - 1)) * READ_PAGES_MAX)
#define ARM64_UNWIND_PAGES_MAX \
	((UNWIND_CODE_PAGES_MAX + 2 * (CHAIN_MAX - 1)) * READ_PAGES_MAX)

void cpu_unwind(const struct cpu *cpu, const struct guest_memory *memory,
		struct chain *chain);

/* A register for people to read. */
struct register_value {
	const char *name;
	uint64_t value;
};

#define REGISTERS_MAX 48

/* Fills @values, room for REGISTERS_MAX; how many there are. */
size_t cpu_registers(const struct cpu *cpu, struct register_value *values);
size_t x86_registers(const struct x86_cpu *cpu, struct register_value *values);
size_t arm_registers(const struct arm_cpu *cpu, struct register_value *values);

#endif

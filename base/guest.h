/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_GUEST_H
#define UNIPROF_BASE_GUEST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Properties of a guest that are stored in recordings, for all folders: also for arch/,
 * which is below guest/, and for report/, which runs where there is no guest. New values
 * may be added, but existing values never change (format/FORMAT.md).
 */

enum guest_type {
	GUEST_UNKNOWN = 0,
	GUEST_PV = 1,
	GUEST_PVH = 2,
	GUEST_HVM = 3,
	GUEST_KVM = 4,
	GUEST_GDB = 5, /* known only through a GDB stub */
};

/* The contents of a Linux guest's page of hypercalls, for x86-64. */
enum hypercall_page {
	HYPERCALLS_NONE, /* no page of hypercalls */
	HYPERCALLS_PV,	 /* Xen's, for guests without page tables of their own */
	HYPERCALLS_HVM,	 /* Xen's, for other guests */
};

enum cpu_kind {
	CPU_UNKNOWN = 0,
	CPU_X86_64 = 1,
	CPU_X86_32 = 2,
	CPU_ARM64 = 3,
	CPU_ARM32 = 4,
	CPU_RISCV64 = 5,
	CPU_KINDS
};

/* Families of CPUs: a physical CPU can run all kinds of its family, in different
 * modes. */
enum cpu_family {
	CPU_FAMILY_X86,
	CPU_FAMILY_ARM,
	CPU_FAMILY_RISCV,
};

/* The state of a vCPU just before it was paused. */
enum vcpu_state {
	VCPU_UNKNOWN = 0,
	VCPU_RUNNING = 1,  /* on a physical CPU */
	VCPU_RUNNABLE = 2, /* waiting for a physical CPU */
	VCPU_BLOCKED = 3,  /* waiting for an event: usually idle */
};

/* What samples without a stop are taken at, as perf_event_open(2) takes it. */
struct event_kind {
	char name[32];	 /* as given, such as "cycles:G"; empty: CPU time */
	uint32_t type;	 /* PERF_TYPE_* */
	uint64_t config; /* PERF_COUNT_*, or what the CPU's manual says, for PERF_TYPE_RAW
			  */
	bool is_guest_only; /* counts only while the guest's code runs */
};

/* Return short human-readable names; "unknown" for other numbers. */
const char *guest_type_name(unsigned int type);
const char *cpu_kind_name(unsigned int kind);
const char *vcpu_state_name(unsigned int state);

/* Returns the machine that `uname -m` prints on this kind of CPU, as in perf.data; "" for
 * other numbers. */
const char *cpu_kind_machine(uint64_t kind);

/* Returns the size of an address, bytes; 8 for other numbers. */
unsigned int cpu_kind_word(uint64_t kind);

/* Returns whether programs for this kind of CPU can be unwound by tables: whether uniprof
 * knows its call frame information, its instructions and its captured registers. */
bool cpu_kind_has_tables(uint64_t kind);

/* Returns the kind of CPU that an ELF file with this e_machine is for, or CPU_UNKNOWN. */
enum cpu_kind cpu_kind_of_elf(unsigned int machine);

/* Returns whether both kinds are known and of one family. */
bool cpu_kinds_are_related(uint64_t kind, uint64_t other);

/* Returns the page of hypercalls of guests of this type. Guests of an unknown type may
 * run on Xen. */
enum hypercall_page guest_type_hypercalls(uint64_t type);

#endif

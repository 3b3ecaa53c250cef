/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
#ifndef UNIPROF_KVM_BPF_PROGRAMS_H
#define UNIPROF_KVM_BPF_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "kvm/bpf/call.h"

/*
 * The programs that read KVM's structures. Each is given a descriptor of the thread that
 * runs it, and only goes on if that is a descriptor of a vCPU: whoever has it could as
 * well stop the VM's vCPUs and read them, and what is read exists as long as it is open.
 * Kernel addresses stay in the programs and in memory that only they can read.
 */

/* Members of Linux's structures, in the order of layout.c's table of their names. */
enum kernel_member {
	TASK_FILES,
	TASK_PID,
	FILES_TABLE,
	TABLE_SIZE,
	TABLE_FILES,
	FILE_DENTRY,
	FILE_PRIVATE,
	DENTRY_SUPER,
	DENTRY_NAME,
	SUPER_MAGIC,
	PID_LEVEL,
	PID_NUMBERS,
	UPID_NUMBER,
	UPID_SPACE,
	VCPU_VM,
	VCPU_PID,
	VM_SLOTS,
	SLOTS_GENERATION,
	SLOT_FRAME,
	SLOT_PAGES,
	SLOT_ADDRESS,
	MEMBERS_NEEDED,
	/* The rest depends on the version: a hash table of slots (Linux 5.17), or an
	 * array. */
	SLOTS_HASH = MEMBERS_NEEDED,
	SLOTS_INDEX,
	SLOT_NODES,
	SLOTS_USED,
	SLOTS_ARRAY,
	VCPU_EXITS,
	/* arm64: what the registers need, and the rest of it, which depends on the
	 * version. */
	VCPU_CPU,
	VCPU_INDEX,
	VCPU_REGISTERS,
	VCPU_SYSTEM,
	VCPU_TRAPS,
	VM_ONLINE,
	VCPU_NESTED, /* Linux 6.8 */
	VCPU_STATE,  /* Linux 5.19 */
	VCPU_OFF,    /* before */
	VM_PROTECTED,
	VM_ENABLED,
	VM_REALM,
	VM_VCPUS, /* an array of the VM's vCPUs, before Linux 5.16 */
	VM_TREE,  /* since: an XArray (Linux, Documentation/core-api/xarray.rst) */
	NODE_SHIFT,
	NODE_SLOTS,
	KERNEL_MEMBERS
};

/* arm64: system registers that are read, in the order of layout.c's table of their names.
 */
enum kernel_system {
	SYSTEM_SCTLR,
	SYSTEM_TCR,
	SYSTEM_TTBR0,
	SYSTEM_TTBR1,
	SYSTEM_SP,
	KERNEL_SYSTEMS
};

/* Maximum number of words that are read at once for system registers. */
#define KERNEL_SYSTEMS_SPAN 16

struct kernel_layout {
	/* bytes; 0: a member that depends on the version, and that this kernel lacks */
	int32_t offset[KERNEL_MEMBERS];
	int32_t system[KERNEL_SYSTEMS];	   /* in arch.ctxt.sys_regs, bytes */
	int32_t system_start, system_size; /* the part of system[] read at once */
	uint32_t upid_size, slot_size;	   /* of the structures, bytes */
	uint32_t buckets; /* number of lists in the hash table of slots; 0: an array */
};

/* Results of the programs; others are numbers of checks that failed. */
#define PROGRAM_DONE	 0
#define PROGRAM_MORE	 1 /* run again with 1 as the second argument */
#define PROGRAM_CHANGED	 2 /* the slots have changed meanwhile */
#define PROGRAM_TOO_MANY 3 /* slots */

/* What a program leaves in the memory that it writes. */
struct kernel_vcpu {
	uint64_t generation; /* changes whenever the VM's slots do */
	/* thread that ran the vCPU last, as this process sees it; 0: none; -1: it is in
	 * another pid namespace */
	int32_t tid;
	uint32_t hidden; /* arm64: why its registers can't be read; 0: they can */
	uint64_t exits;	 /* how often it left the guest's code; KERNEL_EXITS_UNKNOWN */
	uint32_t index;	 /* arm64: its place among the VM's vCPUs */
	uint32_t unused;
};

#define KERNEL_EXITS_UNKNOWN UINT64_MAX

#define VCPU_IS_NESTED	  1 /* may run a hypervisor, and has registers elsewhere */
#define VCPU_IS_PROTECTED 2 /* its registers and memory are hidden from this kernel */

/* arm64: the registers of a vCPU, which are in memory while no CPU runs it. */
struct kernel_registers {
	/* x0 to x30, SP_EL0, PC, PSTATE: struct user_pt_regs (Linux,
	 * arch/arm64/include/uapi/asm/ptrace.h) */
	uint64_t x[31], sp, pc, pstate;
	uint64_t system[KERNEL_SYSTEMS];
	uint64_t traps; /* HCR_EL2, of the vCPU whose descriptor was given */
	/* the CPU that ran it, before and after the registers were read; -1: none, or,
	 * before, not looked at */
	int32_t before, after;
	uint64_t is_off; /* waits until another vCPU starts it; 0 if not looked at */
};

/* Number of vCPUs whose registers one run reads: a part of a node's slots in an XArray,
 * which are 64. */
#define KERNEL_BATCH 8

struct kernel_slot {
	uint64_t frame, pages; /* of the guest */
	uint64_t address;      /* in the VMM */
};

#define KERNEL_SLOTS_MAX 512

struct kernel_slots {
	uint64_t generation;
	uint64_t count;
	struct kernel_slot slot[KERNEL_SLOTS_MAX];
};

/* Where the program for slots is; only it can read this. */
struct kernel_walk {
	uint64_t node; /* address of the next slot's node; 0: none */
	uint64_t next; /* number of the next list, or slot in the array */
};

#define PROGRAM_MAX 2048

struct bpf_program {
	struct bpf_insn_word insn[PROGRAM_MAX];
	uint32_t count;
	bool is_full; /* the program does not fit */
};

/* Makes the program that reads a vCPU into the memory @vcpu. Its first argument is the
 * descriptor. */
void program_look(struct bpf_program *program, const struct kernel_layout *layout,
		  int vcpu);

/* Makes the program that reads all memory slots of a vCPU's VM into the memory @slots, in
 * several runs. @walk: the memory for struct kernel_walk. */
void program_slots(struct bpf_program *program, const struct kernel_layout *layout,
		   int slots, int walk);

/*
 * Makes the program that reads registers into the memory @registers, which holds
 * KERNEL_BATCH structs, one for each of the VM's vCPUs from an index on. Its arguments
 * are the descriptor of any of the VM's vCPUs, that index, which is a multiple of
 * KERNEL_BATCH, a bit for each vCPU that is read, and a bit for each whose thread is not
 * stopped: it is looked at before its registers are read, too.
 */
void program_registers(struct bpf_program *program, const struct kernel_layout *layout,
		       int registers);

/* Loads a program under its license; -1 with errno set on failure. */
int program_load(const struct bpf_program *program);

#endif

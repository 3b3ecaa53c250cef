/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
#ifndef UNIPROF_KVM_BPF_WATCH_H
#define UNIPROF_KVM_BPF_WATCH_H

#include <stdint.h>

/*
 * What kvm/bpf/watch.bpf.c and the recorder share: the memory of the program that the
 * kernel runs at events of vCPUs' threads. Also compiled for bpf(2), so it includes
 * nothing of ours.
 */

#define WATCH_VCPUS   64 /* most vCPUs of a guest that is watched */
#define WATCH_REGIONS 32 /* most regions of a guest's memory; a power of two */
#define WATCH_EVENTS  64 /* events of a vCPU that are kept; a power of two */

/* Most bytes that are copied above the stack pointer, and bytes that are copied below it:
 * leaf functions may use these (System V ABI for x86-64, section 3.2.2). */
#define WATCH_STACK 16384
#define WATCH_BELOW 128
#define WATCH_PAGE  4096
/* most pages that are copied */
#define WATCH_PAGES ((WATCH_STACK + WATCH_BELOW) / WATCH_PAGE + 2)

/* Offset of sample_period in struct bpf_perf_event_data
 * (include/uapi/linux/bpf_perf_event.h), which the program is called with: behind
 * x86-64's struct pt_regs. */
#define WATCH_PERIOD 168

#define WATCH_GENERAL 17 /* rax to r15 in the order of their encoding, and rip */
#define WATCH_EXIT    8	 /* offset in struct kvm_run of what is copied, bytes */

enum {
	WATCH_LOADED = 1, /* the thread was in KVM_RUN */
	WATCH_TORN = 2,	  /* the places were changed meanwhile */
};

/* What was seen at an event. */
struct watch_event {
	uint64_t time;	  /* ns, monotonic */
	uint64_t ran;	  /* CPU time of the thread since its events began, ns */
	uint64_t counted; /* since the event before: the period of this one */
	uint64_t start;	  /* address of the first word of the stack's copy */
	uint32_t bytes;	  /* size of the copy */
	uint32_t flags;
	uint64_t general[WATCH_GENERAL]; /* kvm_vcpu.arch.regs */
	uint64_t cr0, cr3, cr4, efer;	 /* as KVM has them */
	/* Parts of the VMCB (AMD64 Architecture Programmer's Manual, volume 2,
	 * appendix B): the control of nested paging, and of the save area, CS and SS, and
	 * from CR3 to RFLAGS. */
	uint64_t nested, segments[4], saved[5];
	uint64_t exit[6]; /* if the thread was not in KVM_RUN: struct kvm_run, from
			   * WATCH_EXIT on */
	uint64_t word[(WATCH_STACK + WATCH_BELOW) / 8];
};

/* What the program works with. */
struct watch_work {
	uint64_t at, left, copied; /* of the stack: address, bytes to go, bytes copied */
	uint64_t table, guest;	   /* an entry of a table; a guest-physical address */
	uint64_t address, region;  /* in the VMM; number of the region */
	uint64_t is_found;
};

/* A vCPU's events. Only the program writes it. */
struct watch_ring {
	/* Number of events so far: the next one is written to event[count %
	 * WATCH_EVENTS]. */
	uint64_t count;
	struct watch_work work;
	struct watch_event event[WATCH_EVENTS];
	uint64_t slack[WATCH_PAGE / 8]; /* the kernel takes any copy for a page */
};

/* Where the guest's memory is in the VMM; the recorder writes it. */
struct watch_places {
	uint64_t version; /* odd while the recorder changes the rest */
	uint64_t bytes;	  /* to copy above the stack pointer, at most WATCH_STACK */
	/* Sorted by guest; unused ones are at the end, with a guest that no address
	 * reaches, and no size. */
	struct {
		uint64_t guest, size, address;
	} region[WATCH_REGIONS];
};

/* Addresses of struct kvm_vcpu; only programs read and write it. */
struct watch_vcpus {
	uint64_t vcpu[WATCH_VCPUS];
};

/*
 * Numbers that the program has in place of what depends on the running kernel: 64-bit
 * constants with WATCH_MARK in the upper half.
 */
#define WATCH_MARK 0x5eed0000u
enum watch_mark {
	WATCH_RINGS = 1, /* the map of struct watch_ring */
	WATCH_PLACES,	 /* struct watch_places */
	WATCH_ADDRESSES, /* struct watch_vcpus */
	/* Offsets of members, in the order of kernel.c's table. */
	WATCH_TASK_PID,
	WATCH_VCPU_PID,
	WATCH_VCPU_RUN,
	WATCH_VCPU_LINK,
	WATCH_VCPU_GENERAL,
	WATCH_VCPU_CR0,
	WATCH_VCPU_CR3,
	WATCH_VCPU_CR4,
	WATCH_VCPU_EFER,
	WATCH_VCPU_VMCB,
	WATCH_MARKS
};

/* Offsets in the VMCB. */
#define VMCB_NESTED   0x90  /* bit 0: nested paging; bits 1 and 2: encrypted (SEV) */
#define VMCB_SEGMENTS 0x410 /* CS, SS: each a selector, attributes, limit, base */
#define VMCB_SAVED    0x550 /* CR3, CR0, DR7, DR6, RFLAGS */

#endif

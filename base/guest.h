/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_GUEST_H
#define UNIPROF_BASE_GUEST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What every part says of a guest. The numbers are the recording's: they are
 * never changed, only added to (format/FORMAT.md).
 */

enum guest_type {
	GUEST_UNKNOWN = 0,
	GUEST_PV = 1,
	GUEST_PVH = 2,
	GUEST_HVM = 3,
};

enum cpu_kind {
	CPU_UNKNOWN = 0,
	CPU_X86_64 = 1,
	CPU_X86_32 = 2,
	CPU_ARM64 = 3,
	CPU_ARM32 = 4,
};

/* What a vCPU was doing just before it was paused. */
enum vcpu_state {
	VCPU_UNKNOWN = 0,
	VCPU_RUNNING = 1,  /* on a physical CPU */
	VCPU_RUNNABLE = 2, /* wanting one */
	VCPU_BLOCKED = 3,  /* waiting for an event: idle, most often */
};

/* Where and why a call chain ends. All but CHAIN_WHOLE are cut short. */
enum chain_end {
	CHAIN_WHOLE = 0,	 /* a frame pointer or return address of 0 */
	CHAIN_TOO_DEEP = 1,	 /* CHAIN_MAX addresses */
	CHAIN_NOT_PRESENT = 2,	 /* the guest's page tables map nothing there */
	CHAIN_NOT_CANONICAL = 3, /* no address that the CPU could use */
	CHAIN_NOT_ASCENDING = 4, /* the next frame does not lie further up */
	CHAIN_UNALIGNED = 5,
	CHAIN_NO_PAGE = 6,   /* it could not be mapped: no RAM, most often */
	CHAIN_NOT_READY = 7, /* it was not mapped in time */
	CHAIN_ENDS	     /* how many there are */
};

/* The most addresses a recorded chain has. */
#define CHAIN_MAX 256

/* A call chain, leaf first: the sampled instruction, then return addresses. */
struct chain {
	uint64_t *address; /* room for CHAIN_MAX */
	uint32_t count;
	enum chain_end end;
	/* address[1] is from the link register or the stack's top, as the sampled
	 * function had no frame there. */
	bool frameless;
};

/* Short names for people; "unknown" for a number that has none. */
const char *guest_type_name(unsigned int type);
const char *cpu_kind_name(unsigned int kind);
const char *vcpu_state_name(unsigned int state);
const char *chain_end_name(unsigned int end);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_GUEST_GUEST_H
#define UNIPROF_GUEST_GUEST_H

#include "arch/arch.h"
#include "guest/host.h"

struct guest_ops;

#define CPU_TIME_UNKNOWN UINT64_MAX

struct guest_vcpu {
	bool wanted; /* its registers are to be captured */
	bool online;
	enum vcpu_state state; /* just before the pause */
	uint64_t cpu_time;     /* ns, since the guest started, or CPU_TIME_UNKNOWN */
	bool captured;	       /* @cpu holds the registers at the last pause */
	struct cpu cpu;
};

/* A guest that can be paused and inspected, created by host_ops.open(). */
struct guest {
	const struct guest_ops *ops;
	struct guest_info info;	 /* as listed before the guest was opened */
	struct guest_vcpu *vcpu; /* info.vcpus elements, by number */
	void *memory;		 /* the first argument of the functions for pages */
};

enum observation {
	OBSERVED_RUNNING,
	OBSERVED_PAUSED, /* by someone else; don't touch it */
	OBSERVED_GREW,	 /* runs, and gained vCPUs since it was opened */
	OBSERVED_SHUT,	 /* shut down or dying, but still exists */
	OBSERVED_GONE,
};

/* What pause() returns besides 0 and -1: the guest is not paused by this call. */
enum pause_outcome {
	PAUSE_GONE = 1,
	PAUSE_HELD = 2, /* someone else holds it, such as a debugger */
};

/*
 * Implemented by each hypervisor: calls to pause a guest, read its vCPUs' registers,
 * resume it, and access its pages. Functions that can fail return -1 with the reason in
 * @err.
 */
struct guest_ops {
	/* Frees the guest, which must not be paused, and all that is held of it. */
	void (*close)(struct guest *guest);

	/* Looks at the guest and its vCPUs at @now (ns, monotonic), without affecting
	 * them. */
	int (*observe)(struct guest *guest, uint64_t now, enum observation *observation,
		       struct error *err);
	/* Tells, for messages, what happened to a guest that was OBSERVED_SHUT: "has
	 * ended". */
	const char *(*ending)(const struct guest *guest);

	/* Does the part of pause() that needs no paused guest; pause() must follow.
	 * Selects the wanted vCPUs that were online at the last observation. */
	void (*prepare)(struct guest *guest);
	/* Pauses the guest and reads the registers of the selected vCPUs: 0 if it is
	 * paused, an enum pause_outcome, or -1 on failure. */
	int (*pause)(struct guest *guest, struct error *err);
	/* Ends the pause: 0; 1 if the guest is gone; -1 if the hypervisor refused. */
	int (*resume)(struct guest *guest, struct error *err);
	/* Does the part of resume() that needs no paused guest; must follow a resume()
	 * that returned 0. Returns for how many ns of the pause no vCPU could have run
	 * anyway, because the host's CPUs were busy. */
	uint64_t (*finish)(struct guest *guest);
	/* Takes back what prepare() has left with the guest for the next pause, if that
	 * will not follow soon. False if a part of the guest, which was late for the last
	 * pause, can't be released yet: to be called again. NULL: prepare() leaves
	 * nothing. */
	bool (*rest)(struct guest *guest);
	/* Reads the registers like prepare() and pause(), but pauses nothing: for a guest
	 * that is not running. */
	int (*take)(struct guest *guest, struct error *err);
	/*
	 * After a pause, queries the parts of a vCPU's mode that are not in its
	 * registers, if they may have changed. True if one has: the captured registers
	 * are then not reliable, and must be captured again.
	 */
	bool (*learn_modes)(struct guest *guest);
	/* The kind of CPU at the last pause, or of all guests of this type. */
	enum cpu_kind (*kind)(const struct guest *guest);

	/*
	 * Starts a round of page accesses at time @now (ns, monotonic): releases old
	 * mappings. In this round, map_page() makes at most @map_calls map calls, so that
	 * a guest that uses other pages each time can't make a round longer.
	 */
	void (*begin_pages)(void *memory, uint64_t now, unsigned int map_calls);
	/* While the guest is paused: only looks up a page, and counts misses. A callback
	 * of struct guest_memory. */
	const void *(*get_page)(void *memory, uint64_t frame);
	/* While the guest runs: maps the page unless it is mapped. A callback of struct
	 * guest_memory. */
	const void *(*map_page)(void *memory, uint64_t frame);
	/* Whether, since the last call, get_page() missed a page that may exist and may
	 * be mapped in this round. */
	bool (*pages_missed)(void *memory);
	/* How many pages that may exist get_page() ever missed. */
	uint64_t (*page_misses)(const void *memory);
	/* Whether a mapped page is the guest's memory itself, from round to round, and
	 * not a copy that map_page() made. */
	bool are_pages_live;
};

/*
 * For host_ops.open(): allocates a hypervisor's own structure of @size bytes, which
 * begins with a struct guest; that is set up, and the rest is 0. @wanted has a bool for
 * each vCPU, or is NULL for all of them. NULL with the reason in @err on failure.
 */
void *guest_new(size_t size, const struct guest_ops *ops, const struct guest_info *info,
		const bool *wanted, struct error *err);
/* For guest_ops.close(): frees what guest_new() allocated. */
void guest_free(struct guest *guest);

/* The kind of CPU at the last pause: of the first vCPU whose registers were captured, or
 * CPU_UNKNOWN. */
enum cpu_kind guest_kind(const struct guest *guest);

#endif

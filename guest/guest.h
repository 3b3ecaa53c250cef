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
	uint64_t cpu_time; /* CPU time since the guest started, ns, or CPU_TIME_UNKNOWN */
	uint64_t waited;   /* time that it waited for a CPU, ns; of a guest with events */
	/* @cpu holds the registers at the last pause; false for a vCPU that was never
	 * started */
	bool captured;
	struct cpu cpu;
	uint64_t exit; /* why it was not in the guest's code, exit_make(); 0: it was */
};

/* A guest that can be paused and inspected, created by host_ops.open(). */
struct guest {
	const struct guest_ops *ops;
	struct guest_info info;	 /* as listed before the guest was opened */
	struct guest_vcpu *vcpu; /* vCPUs by number, info.vcpus elements */
	void *memory;		 /* first argument of the functions for pages */
	/* vCPUs are seen at events, such as of their CPU time, and need not be paused
	 * (struct host, event_period) */
	bool has_events;
	struct error no_events; /* why not; empty: not asked for */
};

/* What a vCPU was seen doing at an event. */
struct guest_event {
	uint64_t time;	   /* ns, monotonic */
	uint64_t cpu_time; /* like guest_vcpu.cpu_time, at the event */
	uint64_t counted;  /* what the CPU counted since the event before, or ns */
	uint64_t lost;	   /* events that were lost before this one */
	/* the top of the vCPU's stack at the event: its first address, and the words from
	 * there on, valid until the vCPU's next event */
	uint64_t start;
	const uint64_t *word;
	unsigned int count;
};

enum observation {
	OBSERVED_RUNNING,
	OBSERVED_PAUSED, /* paused by someone else, not to be touched */
	OBSERVED_GREW,	 /* running, gained vCPUs since it was opened */
	OBSERVED_SHUT,	 /* shut down or dying, but still exists */
	OBSERVED_GONE,
};

/* Results of pause() besides 0 and -1: this call has not paused the guest. */
enum pause_outcome {
	PAUSE_GONE = 1,
	PAUSE_HELD = 2,	    /* someone else holds the guest paused, such as a debugger */
	PAUSE_LATE = 3,	    /* no vCPU stopped in time, as on a busy host */
	PAUSE_NEEDLESS = 4, /* no vCPU has run since the last pause: the registers are
			     * those of then, unless learn_modes() says no */
};

/*
 * Implemented by each hypervisor: calls to pause a guest, read its vCPUs' registers,
 * resume it, and access its pages. Functions that can fail return -1 with the reason in
 * @err.
 */
struct guest_ops {
	/* Frees the guest, which must not be paused, and all its resources. */
	void (*close)(struct guest *guest);

	/* Looks at the guest and its vCPUs at @now (ns, monotonic), without affecting
	 * them. If it did so less than 2 ms ago, it may leave the vCPUs to the next
	 * pause(). */
	int (*observe)(struct guest *guest, uint64_t now, enum observation *observation,
		       struct error *err);
	/* Returns what happened to a guest that was OBSERVED_SHUT, for messages: "has
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
	/*
	 * Undoes the effects of prepare() on the guest, if no pause will follow soon.
	 * False if a part of the guest that was late for the last pause can't be released
	 * yet, and rest() must be called again. NULL: prepare() has no effects on the
	 * guest.
	 */
	bool (*rest)(struct guest *guest);
	/* Reads the registers like prepare() and pause(), but pauses nothing: for a guest
	 * that is not running. */
	int (*take)(struct guest *guest, struct error *err);
	/*
	 * After a pause, queries the parts of a vCPU's mode that are not in its
	 * registers, if they may have changed. True if a part has changed: the captured
	 * registers are then not reliable, and must be captured again.
	 */
	bool (*learn_modes)(struct guest *guest);
	/*
	 * Writes to @line how it is known where the guest's memory is, or why it is not,
	 * and what would help. False if it is not known, as far as the samples so far
	 * show: their chains are cut for this reason. NULL: it is always known.
	 */
	bool (*explain_memory)(const struct guest *guest, struct error *line);
	/* Returns the kind of CPU at the last pause, or of all guests of this type. */
	enum cpu_kind (*kind)(const struct guest *guest);

	/*
	 * Starts a round of page accesses at time @now (ns, monotonic): releases old
	 * mappings, and forgets what was read at other times. In this round, map_page()
	 * makes at most @map_calls map calls, so that a guest that uses other pages each
	 * time can't make a round longer.
	 */
	void (*begin_pages)(void *memory, uint64_t now, unsigned int map_calls);
	/* Looks up a mapped page while the guest is paused, and counts misses. A callback
	 * of struct guest_memory. */
	const void *(*get_page)(void *memory, uint64_t frame);
	/* Maps the page, unless it is mapped already, while the guest runs. A callback of
	 * struct guest_memory. */
	const void *(*map_page)(void *memory, uint64_t frame);
	/* Returns whether get_page() has, since the last call, missed a page that may
	 * exist and may be mapped in this round. */
	bool (*pages_missed)(void *memory);
	/* Returns the total number of misses of get_page() for pages that may exist. */
	uint64_t (*page_misses)(const void *memory);
	/* mapped pages are the guest's memory itself, not copies made by map_page() */
	bool are_pages_live;

	/*
	 * For guests with events; NULL: there are none. next_event() takes the next event
	 * of the vCPU, and captures its registers; false if there is none. peek()
	 * captures the registers of a vCPU that waits; false if it runs. has_waited()
	 * returns whether the vCPU has waited ever since, so that what was read meanwhile
	 * belongs to these registers. copy_more() has events copy more of stacks; false
	 * if they copy all they can. end_events() ends all events of the guest.
	 */
	bool (*next_event)(struct guest *guest, unsigned int vcpu,
			   struct guest_event *event);
	bool (*peek)(struct guest *guest, unsigned int vcpu);
	bool (*has_waited)(struct guest *guest, unsigned int vcpu);
	bool (*copy_more)(struct guest *guest);
	void (*end_events)(struct guest *guest);
};

/*
 * Allocates a hypervisor's own structure of @size bytes, for host_ops.open(). Sets up the
 * struct guest at its start, and the rest to 0. @wanted has a bool for each vCPU, or is
 * NULL for all of them. NULL with the reason in @err on failure.
 */
void *guest_new(size_t size, const struct guest_ops *ops, const struct guest_info *info,
		const bool *wanted, struct error *err);
/* Frees the memory that guest_new() allocated, for guest_ops.close(). */
void guest_free(struct guest *guest);

/* Returns the kind of CPU at the last pause: the one with the longest words, if vCPUs
 * whose registers were captured differ, or CPU_UNKNOWN. */
enum cpu_kind guest_kind(const struct guest *guest);

/* Returns whether the guest has started the vCPU with this number, as far as its
 * registers and state tell: it is neither at its first instruction nor, unless it is the
 * first one, halted in the firmware. */
bool guest_has_started(const struct guest *guest, unsigned int vcpu);

#endif

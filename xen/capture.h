/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_CAPTURE_H
#define UNIPROF_XEN_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "xen/xen.h"

/*
 * Stops a domain, takes its vCPUs' registers, and lets it run again, with as
 * few entries to the hypervisor as there can be: one that observes, one that
 * pauses and takes all registers, one that resumes.
 */
struct capture;

struct capture_vcpu {
	bool online;
	enum vcpu_state state; /* before the pause */
	uint64_t cpu_time;     /* ns that it has run since the domain began */
	bool captured;	       /* @cpu holds what the last pause found */
	struct cpu cpu;
};

enum observation {
	OBSERVED_RUNNING,
	OBSERVED_PAUSED, /* by someone else; leave it alone */
	OBSERVED_SHUT,	 /* shut down or dying, but still there */
	OBSERVED_GONE,
};

/*
 * All memory that it needs is got here. @wanted has a bool for each of the
 * domain's vCPUs, or is NULL for all of them. NULL, and why in @err, on
 * failure.
 */
struct capture *capture_new(struct xen *xen, const struct xen_domain *domain,
			    const bool *wanted, struct error *err);
/* Must not be called while it holds the domain paused. */
void capture_free(struct capture *capture);

/* Looks at the domain and its vCPUs without touching them: 0, or -1. */
int capture_observe(struct capture *capture, enum observation *observation,
		    struct error *err);

/* For people, what became of a domain that was OBSERVED_SHUT: "has ended". */
const char *capture_ending(const struct capture *capture);

/* What of capture_pause(), which it is due before, needs no paused domain: chooses the
 * wanted vCPUs that were online at the last observation, and has their memory at hand. */
void capture_prepare(struct capture *capture);

/*
 * Pauses the domain and takes the registers of the vCPUs that were chosen. 0: it is
 * paused. 1: the domain is gone. -1: it failed, and the domain is not paused by this
 * call.
 */
int capture_pause(struct capture *capture, struct error *err);

/*
 * Takes the registers as capture_pause() does, but pauses nothing: for a domain
 * that does not run anyway.
 */
int capture_take(struct capture *capture, struct error *err);

/* Ends the pause: 0; 1 when the domain is gone; -1 when Xen refused. */
int capture_resume(struct capture *capture, struct error *err);

/*
 * After a pause: finds out in which mode (32 or 64 bits) those x86 vCPUs are whose
 * control registers were not seen before; only Xen's saved state tells. True
 * when there were any: what was captured from them can't be relied on, and is
 * to be captured again.
 */
bool capture_learn_modes(struct capture *capture);

/* The kind of CPU that the last pause found, or that guests of its type have. */
enum cpu_kind capture_kind(const struct capture *capture);

unsigned int capture_vcpus(const struct capture *capture);
const struct capture_vcpu *capture_vcpu(const struct capture *capture, unsigned int vcpu);

/*
 * For a process that was forked off after capture_new() and outlives its
 * parent: whether the parent has left the domain paused. Xen itself writes what
 * this is read from, within the calls that pause and resume, so there is no
 * moment at which it is wrong. While the parent runs, it may be out of date at
 * once.
 */
bool capture_left_paused(const struct capture *capture);

/* For the same process: takes hypercall handles of its own, which can't be
 * inherited, so that it can resume. */
int capture_adopt(struct capture *capture, struct error *err);

#endif

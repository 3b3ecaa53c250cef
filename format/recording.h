/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_RECORDING_H
#define UNIPROF_FORMAT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/guest.h"

/*
 * What a recording holds, as its writers give it and its readers get it. The
 * bytes are described in FORMAT.md, in the same order.
 */

/* Raised when an older reader would misread the file, not for additions. */
#define RECORDING_VERSION 1

enum chunk_type {
	CHUNK_NONE = 0,
	CHUNK_INFO = 1,
	CHUNK_DOMAIN = 2,
	CHUNK_SAMPLES = 3,
	CHUNK_END = 4,
	CHUNK_NAMES = 5,
};

/*
 * All numbers are 64 bits wide and all texts are cut to their room, so that one
 * table of fields serves both directions. Texts end with a 0.
 */
struct recording_info {
	uint64_t version;	  /* RECORDING_VERSION of the writer */
	uint64_t domctl_version;  /* interface version of the domctls; 0: none */
	uint64_t wall_start;	  /* ns since 1970-01-01 UTC */
	uint64_t monotonic_start; /* ns, CLOCK_MONOTONIC; samples use it too */
	uint64_t frequency;	  /* wanted rounds per 1,000 s: 99 Hz is 99000 */
	uint64_t time_limit;	  /* wanted length in ns; 0: none */
	char tool[64];		  /* name and version of the writer */
	char host[256];
	char command[1024]; /* the command line, blanks between the words */
	char hypervisor[64];
};

struct recording_domain {
	uint64_t index; /* samples name a domain by this; counts from 0 */
	uint64_t id;	/* Xen's domain id */
	uint64_t type;	/* enum guest_type */
	uint64_t cpu;	/* enum cpu_kind, as it was at the start */
	uint64_t word;	/* bytes in an address */
	uint64_t vcpus; /* how many it can have, online or not */
	char name[256];
	uint8_t uuid[16];
};

enum end_reason {
	END_UNKNOWN = 0,
	END_TIME = 1,	/* the wanted time was over */
	END_SIGNAL = 2, /* interrupted by the user */
	END_GUEST = 3,	/* the guest shut down, rebooted or was destroyed */
	END_ERROR = 4,
};

/* What a recording amounts to; written last. */
struct recording_end {
	uint64_t reason;    /* enum end_reason */
	uint64_t monotonic; /* when it ended, ns */
	uint64_t samples;   /* in the whole file */
	uint64_t lost;	    /* taken, but there was no room to keep them */
	uint64_t missed;    /* deadlines that passed before they could be met */
	uint64_t pauses;    /* how often the guest was paused */
	uint64_t paused;    /* for how long in all, ns */
};

/* One vCPU at one time. */
struct sample {
	/* ns, CLOCK_MONOTONIC of the recording host; multiples of us take less room. */
	uint64_t time;
	uint32_t domain; /* recording_domain.index */
	uint32_t vcpu;
	uint32_t weight; /* how many samples it stands for, at least 1 */
	uint8_t state;	 /* enum vcpu_state */
	/*
	 * How long the vCPU ran on a physical CPU since its last sample, ns; 0 in
	 * its first; at most RECORDING_MAX_CPU_TIME. The file takes less room where
	 * all are multiples of some large number: keep what rounding leaves over
	 * for the vCPU's next sample, so that nothing is lost.
	 */
	uint64_t cpu_time;
	bool has_cpu_time; /* false: cpu_time is not known */
	struct chain chain;
};

/* A part of some text, which may hold any byte; where it is empty, @at may be NULL. */
struct recording_text {
	const char *at;
	size_t length; /* bytes */
};

/* What a place in a domain's code is called, for reports without its symbols. */
struct recording_name {
	uint32_t domain; /* recording_domain.index */
	/* As it is looked up: a return address less 1, any other as it is. */
	uint64_t address;
	uint64_t offset; /* of @address from the function's start; sums wrap around */
	struct recording_text name; /* 1 to RECORDING_MAX_NAME bytes, the first not 0 */
	struct recording_text dso;  /* of program or library; empty: not known */
};

/*
 * Limits that a writer keeps and a reader insists on, so that a hostile file
 * has no way to ask for much memory.
 */
#define RECORDING_MAX_STORED  (16u << 20) /* bytes of one chunk in the file */
#define RECORDING_MAX_PAYLOAD (16u << 20) /* and decompressed */
#define RECORDING_MAX_SAMPLES (1u << 18)  /* in one chunk */
#define RECORDING_MAX_NODES   (1u << 18)  /* of its call tree, without the roots */
#define RECORDING_MAX_DEPTH   1024	  /* addresses in a chain */
#define RECORDING_MAX_VCPU    8191	  /* Xen's own limit is 8192 vCPUs */
#define RECORDING_MAX_DOMAIN  65535
#define RECORDING_MAX_WEIGHT  100000 /* samples that one stands for */
#define RECORDING_MAX_NAME    65535  /* bytes in a name, and in a DSO's */

/* Names in one chunk, and in a whole recording; bytes of the latter's payloads. */
#define RECORDING_MAX_NAMES	  (1u << 20)
#define RECORDING_MAX_ALL_NAMES	  (1u << 22)
#define RECORDING_MAX_NAMES_BYTES (256u << 20)

/* A sample's CPU time, ns: 104 days. */
#define RECORDING_MAX_CPU_TIME ((uint64_t)1 << 53)

const char *end_reason_name(unsigned int reason);

#endif

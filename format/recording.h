/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_RECORDING_H
#define UNIPROF_FORMAT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/chain.h"
#include "base/guest.h"

/*
 * The contents of a recording, as passed to the writer and returned by the reader.
 * FORMAT.md describes the bytes, in the same order.
 */

/*
 * The highest version of the format that can be read. It is raised only if an older
 * reader would misread the file, not for additions. A file has the lowest version that
 * describes it: 3 if it can have captured stacks, else 1 if no weight can be above
 * RECORDING_SMALL_WEIGHT, else 2.
 */
#define RECORDING_VERSION		3
#define RECORDING_VERSION_LARGE_WEIGHTS 2
#define RECORDING_VERSION_SMALL_WEIGHTS 1
#define RECORDING_SMALL_WEIGHT		100000

enum chunk_type {
	CHUNK_NONE = 0,
	CHUNK_INFO = 1,
	CHUNK_DOMAIN = 2,
	CHUNK_SAMPLES = 3,
	CHUNK_END = 4,
	CHUNK_NAMES = 5,
	CHUNK_PROGRAM = 6,
	CHUNK_WAITS = 7,
	CHUNK_MAPPINGS = 8,
};

/*
 * All numbers have 64 bits and all texts are truncated to their arrays, so that one table
 * of fields serves both directions. Texts end with a 0.
 */
struct recording_info {
	uint64_t version;	  /* version of the format */
	uint64_t domctl_version;  /* interface version of the domctls; 0: none */
	uint64_t wall_start;	  /* ns since 1970-01-01 UTC */
	uint64_t monotonic_start; /* ns, CLOCK_MONOTONIC; samples use it too */
	uint64_t frequency;	  /* requested rounds per 1,000 s: 99 Hz is 99000 */
	uint64_t time_limit;	  /* requested length in ns; 0: none */
	char tool[64];		  /* name and version of the writer */
	char host[256];
	char command[1024]; /* the command line, words separated by blanks */
	char hypervisor[64];
	char event[32]; /* what samples' weights count, such as "cycles:G"; empty: samples
			 */
};

/* Bytes of a process's name, with the 0 at its end, as in Linux (TASK_COMM_LEN). */
#define RECORDING_COMM 16

/* A process of a guest and one of its threads, as far as known. */
struct recording_process {
	/* The address space: a number that all samples of a process share while it runs
	 * (arch.h, cpu_space()); 0: not known. */
	uint64_t space;
	uint32_t pid;		     /* in the guest; 0: not known */
	char comm[RECORDING_COMM];   /* its name; empty: not known */
	uint64_t tid;		     /* the thread's number in the guest; 0: not known */
	char thread[RECORDING_COMM]; /* the thread's name; empty: not known */
};

/* Maximum number of files of which the move is recorded. */
#define RECORDING_MOVES 12

/* Maximum number of pairs of a file and an address space. */
#define RECORDING_SPACES 16

struct recording_domain {
	uint64_t index; /* number by which samples refer to the domain, from 0 */
	uint64_t id;	/* Xen's domain id, or the pid of a VMM */
	uint64_t type;	/* enum guest_type */
	uint64_t cpu;	/* enum cpu_kind at the start */
	uint64_t word;	/* size of an address, bytes */
	uint64_t vcpus; /* maximum number, online or not */
	char name[256];
	uint8_t uuid[16];
	uint64_t unwind_way; /* enum unwind_way */
	/* The unwind table, if any: its number of rows; the files that it was made
	 * from, separated by ", "; the known build-ids of these files, in hexadecimal,
	 * separated by blanks. */
	uint64_t table_rows;
	char table_files[128];
	char build_ids[128];
	/* Where a Linux kernel runs: the address of its symbol _text; 0: not known. */
	uint64_t linux_text;
	/* How much higher the guest has the first of these files than they say; 0: not
	 * moved, or not known; sums wrap around. */
	uint64_t moves[RECORDING_MOVES];
	/* Of files that the guest has at one address: pairs of a file's number among
	 * these files and an address space that has it; a space of 0 ends the list. */
	uint64_t spaces[2 * RECORDING_SPACES];
	char vmm[32]; /* the program that ran the guest; empty: none, or not known */
	uint64_t has_events; /* 1: sampled at events of CPU time, without pauses */
	/* In reports only: the process of another domain, with an equal index, that this
	 * domain stands for; all 0: none. */
	struct recording_process process;
};

enum end_reason {
	END_UNKNOWN = 0,
	END_TIME = 1,	/* time limit reached */
	END_SIGNAL = 2, /* interrupted by the user */
	END_GUEST = 3,	/* the guest shut down, rebooted or was destroyed */
	END_ERROR = 4,
	END_ROTATED = 5, /* continued in the next file (record --rotate) */
};

/* The totals of a recording; written last. */
struct recording_end {
	uint64_t reason;    /* enum end_reason */
	uint64_t monotonic; /* end of the recording, ns, CLOCK_MONOTONIC */
	uint64_t samples;   /* number of samples in the whole file */
	uint64_t lost;	    /* samples taken, but lost because the buffer was full */
	uint64_t missed;    /* deadlines that passed before they could be met */
	uint64_t pauses;    /* number of pauses of the guest */
	uint64_t paused;    /* total length of the pauses, ns */
};

/* A sample: one vCPU at one time. */
struct sample {
	/* Time of the sample, ns, CLOCK_MONOTONIC of the recording host; multiples of 1
	 * us take less space. */
	uint64_t time;
	uint32_t domain; /* recording_domain.index */
	uint32_t vcpu;
	uint32_t weight; /* number of samples it represents, at least 1 */
	uint8_t state;	 /* enum vcpu_state */
	/*
	 * How long the vCPU ran on a physical CPU since its last sample, ns; 0 in its
	 * first sample; at most RECORDING_MAX_CPU_TIME. The file is smaller if all CPU
	 * times are multiples of some large number. To round without losing time, carry
	 * the remainder over to the vCPU's next sample.
	 */
	uint64_t cpu_time;
	bool has_cpu_time; /* false: cpu_time is not known */
	struct chain chain;
	struct recording_process process;
	uint64_t exit; /* why the vCPU was not in the guest's code, exit_make(); or 0 */
};

/* What a thread that does not run waits for, as far as the guest says. */
enum wait_state {
	WAIT_UNKNOWN = 0,
	WAIT_SLEEPING = 1,	  /* a signal would end it */
	WAIT_UNINTERRUPTIBLE = 2, /* such as for a disk */
	WAIT_RUNNABLE = 3,	  /* for a vCPU */
	WAIT_IDLE = 4,		  /* a worker, for work */
	WAIT_STOPPED = 5,	  /* by a signal or a debugger */
	WAIT_STATES
};

/*
 * A wait: one thread that did not run, from the round in which it was first seen until
 * the round in which it was over. One that still goes on is written once as such, and
 * again, with an equal domain, tid and time, when it is over.
 */
struct wait {
	uint64_t from; /* ns, CLOCK_MONOTONIC, like samples */
	uint64_t to;   /* ns, if it is over */
	bool is_over;
	uint32_t domain; /* recording_domain.index */
	uint8_t state;	 /* enum wait_state */
	struct recording_process process;
	struct chain chain; /* of the innermost function that waits; no captured stack */
};

/* A part of a text. It may contain any byte; @at may be NULL if it is empty. */
struct recording_text {
	const char *at;
	size_t length; /* bytes */
};

/* A line of the source that an address belongs to. */
struct recording_line {
	struct recording_text function; /* inlined function; empty: the named one */
	struct recording_text path;	/* of the source file; empty: not known */
	uint32_t line;			/* 0: not known */
};

/* The name of a place (one address) in a domain's code, for reports without symbols. */
struct recording_name {
	uint32_t domain; /* recording_domain.index */
	bool is_symbol;	 /* names are as in a symbol file, maybe mangled */
	bool is_last;	 /* the next address is not in the same function */
	bool is_common;	 /* the place has this name in all domains, whatever @domain is */
	/* The address to look up: a return address less 1, any other unchanged. Of a file
	 * in a process's memory: RECORDING_FILES plus the place in the file. */
	uint64_t address;
	/* That file, as in struct recording_mapping; both empty: the address is no place
	 * in a file. */
	struct recording_text file_path, file_build_id;
	uint64_t offset; /* from the function's start to @address; wraps around */
	struct recording_text name; /* 1 to RECORDING_MAX_NAME bytes, the first not 0 */
	struct recording_text dso;  /* name of the program or library; empty: not known */
	/* The line in the innermost function first, then the line where each function
	 * was inlined; the last line is in the named function itself. At most
	 * RECORDING_MAX_LINES. */
	const struct recording_line *lines;
	uint32_t line_count;
};

/*
 * Code of a file in the memory of a guest's process. All that were read at one time are
 * all that it had then. Addresses and the offset are multiples of 4,096.
 */
struct recording_mapping {
	uint32_t domain;		/* recording_domain.index */
	uint32_t pid;			/* in the guest */
	uint64_t space;			/* the process's address space */
	uint64_t time;			/* when it was read, ns, CLOCK_MONOTONIC */
	uint64_t start, size;		/* its addresses, bytes; not empty */
	uint64_t offset;		/* of the first byte in the file */
	struct recording_text path;	/* in the guest; empty: not known */
	struct recording_text build_id; /* of the file, bytes; empty: not known */
};

#define RECORDING_SEGMENTS	 4
#define RECORDING_SEGMENT_FIELDS 3

/* A program that some of the recording's names are from. */
struct recording_program {
	char name[256];	   /* file name, which the program's names have as their DSO */
	char path[1024];   /* path of the file */
	char domain[256];  /* name or id of the program's domain; empty: all domains */
	char build_id[64]; /* in hexadecimal; empty: none */
	uint64_t has_lines;
	uint64_t image; /* address of its first segment of any kind */
	/* Executable segments: address, size (0: no further segments), offset in the
	 * file. */
	uint64_t segments[RECORDING_SEGMENTS][RECORDING_SEGMENT_FIELDS];
};

/* Where addresses of places in files begin; no CPU has such addresses. */
#define RECORDING_FILES 0x5000000000000000

/* The name of a place of which only the DSO is known. Without a DSO, it is a name like
 * any other. */
#define RECORDING_NO_NAME "[unknown]"

/*
 * Limits that writers keep and readers enforce, so that a hostile file can't make a
 * reader allocate much memory.
 */
#define RECORDING_MAX_STORED  (16u << 20) /* bytes of one chunk in the file */
#define RECORDING_MAX_PAYLOAD (16u << 20) /* bytes of one chunk, decompressed */
#define RECORDING_MAX_SAMPLES (1u << 18)  /* in one chunk */
#define RECORDING_MAX_NODES   (1u << 18)  /* in the call tree of a chunk, without roots */
#define RECORDING_MAX_DEPTH   1024	  /* addresses in a chain */
#define RECORDING_MAX_VCPU    8191	  /* Xen's own limit is 8192 vCPUs */
#define RECORDING_MAX_DOMAIN  65535
#define RECORDING_MAX_WEIGHT  UINT32_MAX /* number of samples that one stands for */
#define RECORDING_MAX_NAME    65535	 /* bytes in a name or DSO */
#define RECORDING_MAX_PATH    4095	 /* bytes in the path of a mapping's file */

/* Bytes in the build-id of a mapping's file */
#define RECORDING_MAX_BUILD_ID 32

/* Maximum number of names and lines, or mappings, in a chunk, and in a recording; maximum
 * size of all payloads of NAMES and MAPPINGS of a recording, bytes */
#define RECORDING_MAX_NAMES	  (1u << 20)
#define RECORDING_MAX_ALL_NAMES	  (1u << 22)
#define RECORDING_MAX_NAMES_BYTES (256u << 20)

#define RECORDING_MAX_LINES    64  /* lines of one name */
#define RECORDING_MAX_PROGRAMS 256 /* programs in a recording; readers ignore more */

/* Maximum CPU time of a sample, ns: 104 days */
#define RECORDING_MAX_CPU_TIME ((uint64_t)1 << 53)

const char *end_reason_name(unsigned int reason);
const char *wait_state_name(unsigned int state);

#endif

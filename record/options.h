/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_OPTIONS_H
#define UNIPROF_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/guest.h"
#include "record/file/series.h"
#include "record/notify.h"
#include "record/sampling.h"
#include "unwind/stack/stack.h"

struct found_files;
struct finder;

/* How call chains are found. */
enum call_graph {
	CALL_GRAPH_AUTO,  /* by a table that fits the guest, or else by frame pointers */
	CALL_GRAPH_FP,	  /* by frame pointers and the code after them */
	CALL_GRAPH_TABLE, /* by a table, or not at all */
	CALL_GRAPH_STACK, /* later, by the report: stacks are captured */
};

/* How to unwind. The arrays are owned; their texts are in the command line. */
struct unwinding_options {
	enum call_graph call_graph;
	unsigned int stack_bytes; /* STACK_BYTES_MIN to STACK_BYTES_MAX; 0: none */
	const char **elf;	  /* FILE[@OFFSET][,domain=NAME] */
	size_t elfs;
	const char **table; /* FILE[,domain=NAME] */
	size_t tables;
	bool no_find; /* don't look for files if none are given */
	/* files that were found, without which nothing fails; NULL: none */
	const struct found_files *found;
	struct finder *finder; /* finds files of guests that start later; NULL: none */
};

/* What to record, and how. The texts are in the command line. */
struct record_options {
	uint64_t frequency;  /* rounds per second */
	double max_overhead; /* share of the time that pauses may take */
	bool jitter;
	enum no_stop no_stop;
	struct event_kind event; /* no name: CPU time; needs NO_STOP_ONLY */
	uint64_t time_limit;	 /* length of the recording, ns; 0: no limit */
	const char *output;	 /* "-" for standard output */
	struct rotation rotation;
	const char *vcpus;    /* list of the numbers of vCPUs; NULL: all */
	char **domain;	      /* names or ids of the guests */
	size_t domains;	      /* number of names and ids */
	bool all;	      /* sample all guests; there are no names and ids then */
	const char *pid;      /* of the VMM; NULL: not given */
	uint64_t waits;	      /* rounds of waits per second; 0: none */
	double waits_max_cpu; /* share of a host CPU that they may take */
	bool wants_chains;    /* as it always has them */
	bool quiet;	      /* only errors are printed */
	const char *gdb; /* address of a GDB stub, which is also the only name; or NULL */
	bool follow;	 /* also sample guests that start later or come back */
	bool unpause;	 /* first resume guests that a killed recorder left paused */
	struct unwinding_options unwinding; /* its ELF files also have names to store */
	bool lines;			    /* store source lines with the names */
	bool force; /* use a Xen newer than known even if it does not answer as expected
		     */
	bool verbose;
	notify_function *notify; /* prints what happens while recording */
};

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_SAMPLING_H
#define UNIPROF_RECORD_SAMPLING_H

#include "format/recording.h"
#include "tables/program_table.h"
#include "unwind/stack/stack.h"

struct examiner;

/* Whether vCPUs are sampled without pauses. */
enum no_stop {
	NO_STOP_NEVER,
	NO_STOP_AUTO, /* where chains are whole, or nearly; else in pauses */
	NO_STOP_ONLY, /* or not at all */
};

/* How to sample a guest. */
struct sampling {
	uint32_t index; /* number of the guest in its samples */
	/* Requested time between samples, ns. CPU times are rounded to a tenth of it,
	 * which is finer than one sample can show, and compresses well. */
	uint64_t period;
	/*
	 * Table to unwind by once the guest's memory shows that it runs the table's
	 * programs. This is checked after the first pause and, as long as their code is
	 * not mapped, again after later ones; until it is known, and if the table is
	 * refused, chains are found by frame pointers. NULL: there is no table.
	 */
	const struct program_table *table;
	/*
	 * Examiner of the code in the guest's memory, for use without a table, or with
	 * one that was found but is not known to fit: if, of at
	 * least @chains_min first chains, most end where frame pointers are needed, the
	 * guest is unwound by a table of its code (tables/found_code.h). NULL: unwind by
	 * frame pointers alone.
	 */
	struct examiner *examiner;
	unsigned int chains_min;
	/* Bytes of stack above the stack pointer, STACK_BYTES_MIN to STACK_BYTES_MAX
	 * (unwind/stack/stack.h), to capture of vCPUs in 64-bit code, instead of
	 * following chains; 0: none. */
	unsigned int stack_bytes;
	enum no_stop no_stop;
	/* Samples are taken at events that count something else than CPU time, which is
	 * their weight: there are none of vCPUs that wait. Only with NO_STOP_ONLY. */
	bool counts_events;
};

/* Maximum number of pauses in a round */
#define ROUND_PAUSES 4

enum round_outcome {
	ROUND_TAKEN,
	ROUND_PAUSED, /* skipped: someone else holds the guest paused */
	ROUND_LATE,   /* skipped: no vCPU stopped in time */
	ROUND_SHUT,   /* the guest has shut down */
	ROUND_GONE,   /* the guest no longer exists */
};

/* A sample of each vCPU of a guest, all taken at the same time. */
struct round {
	enum round_outcome outcome;
	uint64_t time;		      /* time of the samples, ns, monotonic */
	uint64_t pause[ROUND_PAUSES]; /* length of each pause, ns */
	unsigned int pauses;
	/* table of programs by which the chains were found; NULL: none */
	const struct placed_table *table;
	/* one per sample, with a table: its programs that the sample's address space may
	 * have, a bit each; owned by the sampler */
	const uint64_t *programs;
	struct sample *sample; /* owned by the sampler; valid until the next round */
	unsigned int samples;
	/* one per sample, owned by the sampler; NULL unless stacks are captured */
	const struct stack_copy *stack;
	bool found_code; /* code was found: the next round's chains may be longer */
	bool has_more;	 /* samples that are due, too: another round follows at once */
	uint64_t lost;	 /* events that were lost before */
};

/* Returns the chain of the vCPU's sample in the round, which keeps it; with no addresses
 * if there is none. */
static inline struct chain round_chain(const struct round *round, unsigned int vcpu)
{
	for (unsigned int i = 0; i < round->samples; i++)
		if (round->sample[i].vcpu == vcpu)
			return round->sample[i].chain;
	return (struct chain){0};
}

#endif

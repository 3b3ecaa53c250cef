/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_SAMPLER_H
#define UNIPROF_RECORD_SAMPLER_H

#include "format/recording.h"
#include "guest/guest.h"
#include "record/unwinding/examiner.h"
#include "tables/program_table.h"

/*
 * Takes rounds of samples: one of each vCPU of a guest, all at the same time. While the
 * guest is paused, only its mapped pages are read. Missing pages are mapped afterwards,
 * and the round is taken again.
 */
struct sampler;

/* The maximum number of pauses in a round. */
#define ROUND_PAUSES 4

enum round_outcome {
	ROUND_TAKEN,
	ROUND_PAUSED, /* skipped: someone else holds the guest paused */
	ROUND_SHUT,   /* the guest has shut down */
	ROUND_GONE,   /* the guest no longer exists */
};

struct round {
	enum round_outcome outcome;
	uint64_t time;		      /* of the samples: ns, monotonic */
	uint64_t pause[ROUND_PAUSES]; /* each pause's length in ns */
	unsigned int pauses;
	/* By which the chains were found; NULL: by none. */
	const struct program_table *table;
	struct sample *sample; /* owned by the sampler; valid until the next round */
	unsigned int samples;
	bool found_code; /* which may make the next round's chains longer */
};

/*
 * Samples @guest, which must outlive the sampler; samples refer to it by @index. @period
 * is the requested time between samples, in ns. CPU times are rounded to a tenth of it,
 * which is finer than what one sample can show, and compresses well. All memory is
 * allocated here. NULL with the reason in @err on failure.
 */
struct sampler *sampler_new(struct guest *guest, uint32_t index, uint64_t period,
			    struct error *err);
void sampler_free(struct sampler *sampler);

/* The index given to sampler_new(). */
uint32_t sampler_index(const struct sampler *sampler);

/*
 * Unwinds by @table, which must outlive the sampler, once the guest's memory shows that
 * it runs those programs. This is checked after the first pause and, as long as their
 * code is not mapped, again after others; until then, and if the table is refused, chains
 * are found by frame pointers.
 */
void sampler_use(struct sampler *sampler, const struct program_table *table);

/*
 * If most of the first @chains chains, at least, end where frame pointers are needed,
 * unwinds by a table of the code in the guest's memory (tables/found_code.h), which is
 * read after rounds, and examined by @examiner. Not together with sampler_use().
 */
void sampler_find(struct sampler *sampler, struct examiner *examiner,
		  unsigned int chains);
/*
 * Captures @bytes of stack above the stack pointer, STACK_BYTES_MIN to STACK_BYTES_MAX
 * (unwind/stack/stack.h), of vCPUs in 64-bit code, instead of following chains; to be
 * called before the first round, and without the two above. -1 with the reason in @err on
 * failure; the sampler can only be freed then.
 */
int sampler_capture(struct sampler *sampler, unsigned int bytes, struct error *err);
/* The table of found code; NULL: there is none. Valid until the next round. */
const struct unwind_table *sampler_found(const struct sampler *sampler);

enum table_state {
	TABLE_NONE,    /* none was given */
	TABLE_PENDING, /* the programs' code was not seen yet */
	TABLE_USED,
	TABLE_REFUSED, /* the guest runs other programs */
};

/* @why: why the table is not used, if it is TABLE_PENDING or TABLE_REFUSED. */
enum table_state sampler_table(const struct sampler *sampler, const char **why);

/* The address at which the guest has the code of a Linux kernel that the table in use
 * describes, its symbol _text; 0: not known. */
uint64_t sampler_linux(const struct sampler *sampler);

/* The CPU time that the vCPUs have used since their last samples is in no sample: the
 * next ones have 0, as the first. */
void sampler_forget_cpu_times(struct sampler *sampler);

/* Takes one round of samples with this @weight: 0, or -1 on error. The guest is not left
 * paused, unless the hypervisor refuses to resume it. */
int sampler_round(struct sampler *sampler, uint32_t weight, struct round *round,
		  struct error *err);

/* The same for a guest that is paused or shut down: pauses nothing. The outcome is
 * ROUND_TAKEN or ROUND_GONE. */
int sampler_look(struct sampler *sampler, struct round *round, struct error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_PROFILE_H
#define UNIPROF_REPORT_MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/names.h"
#include "report/load/load.h"
#include "report/load/window.h"
#include "report/model/checks/fit.h"
#include "report/model/checks/quality.h"
#include "report/model/filter.h"
#include "report/model/measure.h"
#include "report/model/notes/notes.h"
#include "report/model/processes.h"
#include "report/model/sources.h"
#include "report/model/open_waits.h"
#include "report/model/places/relocate.h"

/* What a profile is made of: which recordings to read, which of their samples count,
 * their weights, and where names come from. The caller keeps the strings and arrays. */
struct profile_rules {
	const char **inputs;
	size_t input_count;
	const char **symbols; /* specs, see sources_add() */
	size_t symbol_count;
	const struct symbols_found *found; /* further files, each for one domain */
	size_t found_count;
	const char *symfs; /* prefix of the symbol files' paths; NULL: none */
	const char *debug_directory;
	bool debuginfod;  /* debug files that are missing are asked of servers */
	bool finds_files; /* files of guests' processes are looked for */
	enum demangle_style demangle;
	enum source_lines lines;
	bool inlined;	     /* inlined functions are separate functions */
	bool per_process;    /* processes of a domain are told apart */
	bool per_thread;     /* and their threads */
	bool stores_names;   /* of domains, also in the chains of waits: wait_stacks */
	bool exits;	     /* why vCPUs left the guest's code is the innermost frame */
	const char *domains; /* list of names and ids; NULL: all */
	const bool *vcpus;   /* by number, up to RECORDING_MAX_VCPU; NULL: all */
	struct window window;
	enum measure_weight weight;
	uint64_t min_wait; /* ns: for MEASURE_WAIT, see struct measure */
	bool no_idle;
	bool keeps_times; /* samples have all weights: struct counted_sample */
	bool keeps_waits; /* a listener also gets waits, beside what is counted */
	enum measure_states states;
	enum measure_part part;
	struct filter_rules filter;
};

/* One of the recordings. */
struct recording {
	struct input input;
	struct error damage;	/* what could not be read; empty if complete */
	char host[256];		/* where it was made, if known before it is read */
	uint64_t start, length; /* ns; 0 if not known before it is read */
};

/* What the samples that count cover, known once all recordings are read. */
struct coverage {
	uint64_t duration;   /* ns */
	size_t domain_count; /* by distinct name */
	const char *domain;  /* clean name of one domain; NULL: there is none */
	bool has_processes;  /* some domains are processes of a domain */
	bool has_threads;    /* or threads of one */
};

/*
 * What was counted: the samples that count, of all recordings together. Domains of
 * different hosts are named HOST/NAME.
 */
struct profile {
	const struct profile_rules *rules;
	struct recording *recordings;
	size_t opened;	/* number of recordings opened */
	uint64_t bytes; /* size of the recordings' parts read so far */
	struct summary summary;
	struct sources sources;
	struct replay *replay; /* unwinds captured stacks by the sources' files */
	char *debug_directory; /* including --symfs */
	struct measure measure;
	struct measure wait_measure; /* of waits beside samples */
	struct processes processes;  /* told apart if profile_by_process() */
	struct relocation relocation;
	struct open_waits waits;
	struct stacks *stacks;
	struct stacks *wait_stacks; /* NULL unless wanted by the rules */
	struct frames *frames;
	struct filter *filter;
	struct names *domains; /* names of the domains with samples */
	struct coverage coverage;
	struct quality quality;
	struct fit fit;
	struct notes notes;
};

/* Starts as zeros. Opens the recordings and reads the symbols. profile_close() must be
 * called even on failure, which is -1 with @err set. */
int profile_open(struct profile *profile, const struct profile_rules *rules,
		 struct error *err);
void profile_close(struct profile *profile);

/* Forgets what was read, and reopens the recordings of the rules, which may have changed;
 * keeps the symbols and notes. -1 with @err set on failure. */
int profile_restart(struct profile *profile, struct error *err);

/* The name for all recordings in messages. */
const char *profile_name(const struct profile *profile);

/* Whether processes are told apart, by the rules or because symbols are for some. */
bool profile_by_process(const struct profile *profile);

/* Whether one of the recordings was damaged. */
bool profile_is_damaged(const struct profile *profile);

/*
 * Whether writing to @path would overwrite an input of the profile: a recording, a symbol
 * file, or a debug file of one. If so, @err is set.
 */
bool profile_reads(const struct profile *profile, const char *path, struct error *err);

/* Sets @err to the message for out of memory. Returns -1. */
int profile_out_of_memory(struct error *err);

#endif

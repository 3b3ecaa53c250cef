/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_PROFILE_H
#define UNIPROF_REPORT_MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/model/filter.h"
#include "report/model/checks/fit.h"
#include "report/load/load.h"
#include "base/names.h"
#include "report/model/processes.h"
#include "report/load/progress.h"
#include "report/model/report.h"
#include "report/model/sources.h"
#include "report/load/window.h"

/* Which recordings to read, which of their samples count, their weights, and where names
 * come from. The caller keeps the strings and arrays. */
struct profile_rules {
	const char **inputs;
	size_t input_count;
	const char **symbols;
	size_t symbol_count;
	const char *symfs; /* NULL: / */
	const char *debug_directory;
	enum demangle_style demangle;
	bool srcline, inlined;
	bool lines_apart;    /* source lines are in separate fields */
	bool per_process;    /* processes of a domain are told apart */
	bool gives_all;	     /* profile_read() also passes on samples that count 0 */
	bool names_only;     /* no notes on counts and chains, which are not shown */
	const char *domains; /* NULL: all */
	const bool *vcpus;   /* by number, up to RECORDING_MAX_VCPU; NULL: all */
	struct window window;
	enum measure_weight weight;
	enum measure_states states;
	enum measure_part part;
	struct filter_rules filter;
	const char *command; /* for messages */
	const char *about;   /* prefix of notes; NULL: none needed */
	bool verbose;
};

/* One of the recordings. */
struct recording {
	const struct input *input;
	struct error damage;	/* what could not be read; empty if complete */
	char host[256];		/* where it was made, if known before it is read */
	uint64_t start, length; /* ns; 0 if not known before it is read */
};

/*
 * The data of one report: the samples that count, of all recordings together. Domains of
 * different hosts are named HOST/NAME.
 */
struct profile {
	const struct profile_rules *rules;
	struct input *inputs;
	struct recording *recordings;
	size_t opened; /* of both */
	bool several_hosts;
	struct summary summary;
	struct sources sources;
	struct replay *replay; /* by the same files */
	char *debug_directory; /* including --symfs */
	struct measure measure;
	struct quality quality;
	struct fit fit;
	struct stacks *stacks;
	struct frames *frames;
	struct filter *filter;
	struct processes processes; /* told apart, with the rule or symbols of some */
	struct names *domains;	    /* in the report */
	uint64_t duration;	    /* of the samples in it, ns */
	uint64_t bytes;		    /* bytes of recordings read so far */
	struct names *said;	    /* notes, each of which is written once */
	struct progress progress;

	/* While they are read: */
	struct recording *recording;
	struct summary *reading; /* of the current recording */
	uint64_t bytes_before;	 /* of the earlier ones */
	uint32_t base;		 /* added to the indexes of its domains */
	int (*sample)(void *arg, const struct output_sample *sample);
	FILE *out;
	void *arg;
};

/* Starts as zeros. Opens the recordings and reads the symbols. profile_close() must be
 * called even on failure, which is -1. */
int profile_open(struct profile *profile, const struct profile_rules *rules,
		 struct error *err);
void profile_close(struct profile *profile);

/* Forgets what was read, and reopens the recordings of the rules, which may have changed;
 * keeps the symbols. -1 with @err set on failure. */
int profile_restart(struct profile *profile, struct error *err);

/* Whether processes are told apart. */
bool profile_by_process(const struct profile *profile);

/*
 * Whether writing to @path would overwrite an input of the profile: a recording, a symbol
 * file, or a debug file of one. If so, @err is set.
 */
bool profile_reads(const struct profile *profile, const char *path, struct error *err);

/* The report for outputs; profile_complete() fills in the rest when all was read. */
struct report profile_report(const struct profile *profile);
void profile_complete(const struct profile *profile, struct report *report);

/*
 * Reads all recordings, one after the other. @sample (can be NULL) is called for each
 * sample that counts, in order, and returns -1 if out of memory. Stops early, with @err
 * empty, if @out has a write error. Shows its progress on the terminal if @is_watched.
 */
int profile_read(struct profile *profile, FILE *out, bool is_watched,
		 int (*sample)(void *arg, const struct output_sample *sample), void *arg,
		 struct error *err);

/* Sets @err to the message for out of memory. Returns -1. */
int profile_out_of_memory(struct error *err);

/* Writes notes on the symbol files to stderr; with verbose, also lists them. */
void profile_describe_symbols(const struct profile *profile);

/* Writes notes on the report to stderr. Returns EXIT_DAMAGED or EXIT_DONE. */
int profile_say_notes(const struct profile *profile);

#endif

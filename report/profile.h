/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_PROFILE_H
#define UNIPROF_REPORT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/filter.h"
#include "report/load.h"
#include "report/names.h"
#include "report/output.h"
#include "report/progress.h"
#include "report/sources.h"
#include "report/window.h"

/* Which recordings to read, which of their samples count and for what, and what names
 * their addresses. The strings and arrays stay the caller's. */
struct profile_rules {
	const char **inputs;
	size_t input_count;
	const char **symbols;
	size_t symbol_count;
	const char *symfs; /* NULL: / */
	const char *debug_directory;
	enum demangle_style demangle;
	bool srcline, inlined;
	const char *domains; /* NULL: all */
	const bool *vcpus;   /* by number, up to RECORDING_MAX_VCPU; NULL: all */
	struct window window;
	enum measure_weight weight;
	enum measure_states states;
	struct filter_rules filter;
	const char *command; /* for messages */
	const char *about;   /* what notes say they are about; NULL: that is clear */
	bool verbose;
};

/* One of the recordings. */
struct recording {
	const struct input *input;
	struct error damage; /* what could not be read; empty when all could be */
	char host[256];	     /* where it was made, if that is known before it is read */
	uint64_t start, length; /* ns; 0 when they are not known before it is read */
};

/*
 * What one report is made of: the samples that count, of all recordings together.
 * Domains of different hosts are kept apart by a name HOST/NAME.
 */
struct profile {
	const struct profile_rules *rules;
	struct input *inputs;
	struct recording *recordings;
	size_t opened; /* of both */
	bool several_hosts;
	struct summary summary;
	struct sources sources;
	char *debug_directory;	   /* below that of --symfs */
	struct recorded *recorded; /* names in the recordings */
	struct measure measure;
	struct quality quality;
	struct stacks *stacks;
	struct frames *frames;
	struct filter *filter;
	struct names *domains; /* in the report */
	uint64_t duration;     /* of what is in it, ns */
	struct progress progress;

	/* While they are read: */
	struct recording *recording;
	struct summary *reading; /* of that recording */
	uint32_t base;		 /* what is added to the indexes of its domains */
	int (*sample)(void *arg, const struct output_sample *sample);
	FILE *out;
	void *arg;
};

/* Starts as zeros. Opens the recordings and reads the symbols. profile_close() is due
 * even on failure, which is -1. */
int profile_open(struct profile *profile, const struct profile_rules *rules,
		 struct error *err);
void profile_close(struct profile *profile);

/* What outputs are given of it; and what is added when all was read. */
struct report profile_report(const struct profile *profile);
void profile_complete(const struct profile *profile, struct report *report);

/*
 * Reads all recordings, one after the other. @sample, which may be NULL, is given each
 * sample that counts, in their order, and says -1 when memory is short. Stops early,
 * with @err empty, when @out has a write error. Says how far it is on a terminal when
 * @is_watched.
 */
int profile_read(struct profile *profile, FILE *out, bool is_watched,
		 int (*sample)(void *arg, const struct output_sample *sample), void *arg,
		 struct error *err);

/* Sets @err to what it means that memory is short, or that an output failed: those that
 * need temporary files have no other way to say so. -1. */
int profile_out_of_memory(struct error *err);

/* Says on stderr what is not as it should be with the symbols that were read, and which
 * they are when that is wanted. */
void profile_describe_symbols(const struct profile *profile);

/* Says on stderr what the reader of the report should know about it. Returns
 * EXIT_DAMAGED or EXIT_DONE. */
int profile_say_notes(const struct profile *profile);

#endif

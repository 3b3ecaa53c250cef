/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_DOMAINS_SUBJECT_H
#define UNIPROF_RECORD_DOMAINS_SUBJECT_H

#include "record/domains/pacer.h"
#include "record/domains/target.h"
#include "record/options.h"

/* A domain while it is sampled. */
struct subject {
	struct guest_info info;
	struct target target;
	struct pacer pacer;
	bool described;	  /* in the recording */
	bool refused;	  /* its table, which was reported */
	uint64_t start;	  /* ns, monotonic; 0: not yet */
	uint64_t rounds;  /* taken or skipped */
	uint64_t skipped; /* because someone else held it paused */
	uint64_t thinned; /* slots skipped to limit the overhead */
};

/* The requested time between samples, ns. */
uint64_t subject_period(const struct record_options *options);

/* Prepares to sample a domain: target_open(), and how to unwind it: by @table or, if that
 * is NULL, by the code that @examiner examines, unless that is NULL, too. NULL with the
 * reason in @err if that fails. */
struct subject *subject_new(struct host *host, const struct record_options *options,
			    const struct guest_info *domain,
			    const struct program_table *table, struct examiner *examiner,
			    uint32_t index, struct error *err);
/* Releases the domain, too. */
void subject_free(struct subject *subject);

/* From @start (ns, monotonic) on, it is due. */
void subject_begin(struct subject *subject, const struct record_options *options,
		   uint64_t start);

/* Tells the user something about the domain. */
void subject_say(const struct subject *subject, const char *text);

/* Tells what the user should know at the end, after @time ns. */
void subject_say_notes(const struct subject *subject,
		       const struct record_options *options, uint64_t time);

#endif

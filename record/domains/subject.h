/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_DOMAINS_SUBJECT_H
#define UNIPROF_RECORD_DOMAINS_SUBJECT_H

#include "record/domains/early.h"
#include "record/domains/pacer.h"
#include "record/domains/target.h"
#include "record/options.h"
#include "record/threads/waits.h"

/* A domain that is being sampled. */
struct subject {
	const struct record_options *options;
	struct guest_info info;
	struct target target;
	struct pacer pacer;
	struct early early;
	struct waits *waits;	    /* NULL: not recorded */
	bool described;		    /* the recording has its description */
	bool cpu_described;	    /* the description has the kind of CPU */
	bool has_events;	    /* the pace is that of a guest with events */
	bool refused;		    /* its table does not fit, and the user was told */
	bool missed[TABLE_ORIGINS]; /* the user was told that a program is not there */
	size_t files_described;	    /* number of the table's files in the description */
	/* files of the recording begun when mappings were last forgotten */
	unsigned int mapped_files;
	uint64_t start;	  /* start of sampling, ns, monotonic; 0: not started */
	uint64_t rounds;  /* number of rounds taken or skipped */
	uint64_t skipped; /* rounds skipped because someone else held the domain paused */
	uint64_t late;	  /* rounds skipped because no vCPU stopped in time */
	uint64_t thinned; /* slots skipped to limit the overhead */
	uint64_t longest; /* longest pause of a round, ns */
};

/* Changes the pace from @now on, ns, monotonic, if the guest's events have ended, and
 * notifies the user of the reason; -1 with it in @err if it must not be paused. */
int subject_follow_events(struct subject *subject, uint64_t now, struct error *err);

/* Returns the requested time between samples, ns. */
uint64_t subject_period(const struct record_options *options);

/*
 * Prepares to sample a domain with target_open(). Samples refer to the domain by @index.
 * It is unwound by @table or, if that is NULL, by the code that @examiner examines; both
 * may be NULL. @options must outlive the subject. NULL with the reason in @err on
 * failure.
 */
struct subject *subject_new(struct host *host, const struct record_options *options,
			    const struct guest_info *domain,
			    const struct program_table *table, struct examiner *examiner,
			    uint32_t index, struct error *err);
/* Stops sampling the domain, and releases it. */
void subject_free(struct subject *subject);

/* Starts the domain's pace: its first round is due at @start (ns, monotonic). */
void subject_begin(struct subject *subject, uint64_t start);

/* Notifies the user of an event of the domain: "'NAME' @text". */
void subject_notify(const struct subject *subject, const char *text);

/* Notifies the user of each file of its table that was given up, once, if others are
 * used.
 */
void subject_notify_missing(struct subject *subject);

/* Notifies the user of what was special about the domain, after @time ns of sampling. */
void subject_notify_end(struct subject *subject, uint64_t time);

#endif

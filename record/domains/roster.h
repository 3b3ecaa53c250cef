/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_DOMAINS_ROSTER_H
#define UNIPROF_RECORD_DOMAINS_ROSTER_H

#include "record/domains/subject.h"
#include "record/domains/tables.h"
#include "record/domains/unwound.h"
#include "record/domains/watch.h"

/*
 * The domains that are sampled, and the domains to sample as soon as they start. Notifies
 * the user of what happens to them.
 */
struct roster {
	struct subject **subject;
	size_t subjects;
	unsigned int domains; /* number ever sampled, and the next subject's index */

	/* Totals of the dropped subjects */
	uint64_t time;	  /* sampling time of dropped subjects, ns */
	uint64_t skipped; /* rounds skipped because someone else had paused the domain */
	uint64_t late;	  /* rounds skipped because no vCPU stopped in time */
	uint64_t unstopped; /* weight of samples taken without pauses, of all subjects */
	struct unwound unwound;
	struct waits_totals waits;

	/* Internal members */
	struct host *host;
	const struct record_options *options;
	struct sink *sink; /* takes the last waits of dropped subjects; NULL: not begun */
	const struct domain_tables *tables;
	struct examiner *examiner; /* examiner of guests' code; NULL: none */
	struct watch *watch;	   /* lists domains to follow; NULL: none are followed */
	/* name to follow, for each domain of the options */
	char (*name)[sizeof(((struct guest_info *)0)->name)];
	uint64_t dropped; /* time when the last subject was dropped, ns, monotonic */
};

/* Prepares to sample the domains that @options ask for; all arguments must outlive the
 * roster. -1 with the reason in @err if a domain does not exist or can't be sampled;
 * roster_close() must follow in any case. */
int roster_open(struct roster *roster, struct host *host,
		const struct record_options *options, const struct domain_tables *tables,
		struct examiner *examiner, struct error *err);
/* Drops all subjects; @roster may be all 0. */
void roster_close(struct roster *roster);

/* Starts to list domains to follow, if domains are followed: 0, or -1. */
int roster_start_watch(struct roster *roster, struct error *err);

/* Starts all subjects' paces at @start (ns, monotonic). */
void roster_begin(struct roster *roster, uint64_t start);

/* Returns whether domains without a fitting table are not sampled. */
bool roster_needs_tables(const struct roster *roster);

/* Returns whether a domain that should be sampled may still start. */
bool roster_is_waiting(const struct roster *roster);

/* Adds followed domains that have started since the last call. */
void roster_follow(struct roster *roster);

/* Returns the number of the subject that is due first; SIZE_MAX if there is none. */
size_t roster_first_due(const struct roster *roster);

/* Returns the number of the subject whose waits are due first; SIZE_MAX if there is none.
 */
size_t roster_first_waits(const struct roster *roster);

/* Stops sampling the @i-th subject, and releases its domain. The last subject gets its
 * number. */
void roster_drop(struct roster *roster, size_t i);
void roster_drop_all(struct roster *roster);

/* Drops the @i-th subject, whose domain has ended: it is @gone, or else shut down. */
void roster_end(struct roster *roster, size_t i, bool gone);

/* Samples the @i-th subject's domain with its new vCPUs: from here on as another domain
 * of the recording, because the number of a domain's vCPUs is fixed. */
void roster_renew(struct roster *roster, size_t i);

#endif

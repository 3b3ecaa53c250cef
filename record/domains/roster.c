/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/domains/roster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "record/open.h"

/* Missing before glibc 2.24 (Linux 4.4, include/uapi/asm-generic/mman.h). */
#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif

bool roster_needs_tables(const struct roster *roster)
{
	return roster->options->unwinding.call_graph == CALL_GRAPH_TABLE;
}

/* @table: of the domain's file, if that was looked for; NULL: it was not, or there is
 * none. */
static int add_subject(struct roster *roster, const struct guest_info *domain,
		       const struct program_table *table, struct error *err)
{
	struct subject *subject;

	if (!table)
		table = domain_tables_find(roster->tables, domain);

	if (!array_grow(&roster->subject, roster->subjects + 1, sizeof(*roster->subject)))
		return error_set(err, "out of memory");
	if (roster->domains > RECORDING_MAX_DOMAIN)
		return error_set(err, "too many domains: a recording holds at most %u",
				 RECORDING_MAX_DOMAIN + 1);
	if (roster_needs_tables(roster) && !table)
		return error_set(err,
				 "there is no table for the domain '%s' (--call-graph)",
				 domain->name);
	subject = subject_new(roster->host, roster->options, domain, table,
			      roster->examiner, roster->domains, err);
	if (!subject)
		return -1;
	roster->subject[roster->subjects++] = subject;
	roster->domains++;
	return 0;
}

void roster_drop(struct roster *roster, size_t i)
{
	struct subject *subject = roster->subject[i];
	uint64_t now = clock_monotonic();
	uint64_t time = subject->start && now > subject->start ? now - subject->start : 0;

	unwound_add(&roster->unwound, &subject->target, &subject->early);
	subject_notify_end(subject, time);
	if (subject->waits) {
		waits_end(subject->waits, roster->sink, true);
		waits_add(subject->waits, &roster->waits);
	}
	roster->time += time;
	roster->skipped += subject->skipped;
	roster->late += subject->late;
	roster->dropped = now;
	roster->subject[i] = roster->subject[--roster->subjects];
	/* Mapped pages would keep the domain from being destroyed. */
	subject_free(subject);
}

void roster_drop_all(struct roster *roster)
{
	while (roster->subjects)
		roster_drop(roster, roster->subjects - 1);
}

static bool id_is_sampled(const struct roster *roster, uint32_t id)
{
	for (size_t i = 0; i < roster->subjects; i++)
		if (roster->subject[i]->info.id == id)
			return true;
	return false;
}

static bool name_is_followed(const struct roster *roster, const char *name)
{
	for (size_t i = 0; i < roster->options->domains; i++)
		if (strcmp(roster->name[i], name) == 0)
			return true;
	return roster->options->all;
}

static bool name_is_sampled(const struct roster *roster, const char *name)
{
	for (size_t i = 0; i < roster->subjects; i++)
		if (strcmp(roster->subject[i]->info.name, name) == 0)
			return true;
	return false;
}

bool roster_is_waiting(const struct roster *roster)
{
	if (!roster->options->follow || roster->options->all)
		return roster->options->follow;
	for (size_t i = 0; i < roster->options->domains; i++)
		if (!name_is_sampled(roster, roster->name[i]))
			return true;
	return false;
}

/*
 * Whether a domain should be sampled. A domain under construction has no vCPUs, or is
 * paused by the toolstack: unless @paused_too is set, it is skipped until it runs.
 */
static bool is_wanted(const struct roster *roster, const struct guest_info *domain,
		      bool paused_too)
{
	return domain->id && !domain->dying && !domain->shutdown &&
	       (domain->vcpus || domain->is_hidden) && (!domain->paused || paused_too) &&
	       name_is_followed(roster, domain->name);
}

/* Adds a listed domain, unless it is sampled already. One that can't be sampled is
 * reported once. */
static void add_listed(struct roster *roster, const struct watched *guest)
{
	const struct guest_info *domain = &guest->info;
	struct error why;

	if (id_is_sampled(roster, domain->id))
		return;
	if (roster->options->verbose && guest->file.text.text[0])
		notify(roster->options->notify, "file of '%s': %s", domain->name,
		       guest->file.text.text);
	if (add_subject(roster, domain, guest->file.table, &why) == 0)
		return;
	if (roster->watch)
		watch_refuse(roster->watch, domain);
	notify(roster->options->notify, "skipping '%s': %s", domain->name, why.text);
}

/* Adds all domains that exist now and should be sampled. */
static int add_present(struct roster *roster, struct error *err)
{
	struct host *host = roster->host;
	struct guest_info *guests;
	size_t count;

	if (host->ops->list(host, &guests, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const struct watched guest = {.info = guests[i]};

		if (is_wanted(roster, &guest.info, true))
			add_listed(roster, &guest);
	}
	free(guests);
	return 0;
}

/* Adds a domain by the name or id that the user gave. */
static int add_named(struct roster *roster, const char *name, struct error *err)
{
	struct guest_info domain;

	if (host_find(roster->host, name, &domain, err) < 0)
		return -1;
	if (domain.dying || domain.shutdown)
		return error_set(
			err, "domain '%s' %s", name,
			domain.dying ? "has ended"
				     : "is not running: it is shut down or suspended");
	return id_is_sampled(roster, domain.id) ? 0
						: add_subject(roster, &domain, NULL, err);
}

static int add_all(struct roster *roster, struct error *err)
{
	if (add_present(roster, err) < 0)
		return -1;
	if (!roster->subjects && !roster->options->follow)
		return error_set(err, "there is no guest to sample (see uniprof list)");
	return 0;
}

/* Sets the name to follow for the @i-th domain of the options: a domain given by id is
 * followed under its current name. Names are compared as they are listed. */
static int set_followed_name(struct roster *roster, size_t i, struct error *err)
{
	const char *given = roster->options->domain[i];
	char *name = roster->name[i];
	struct guest_info domain;

	snprintf(name, sizeof(roster->name[i]), "%s", given);
	text_clean(name, name);
	if (given[strspn(given, "0123456789")] == 0) {
		if (host_find(roster->host, given, &domain, err) < 0)
			return -1;
		if (!domain.name[0])
			return error_set(err, "domain %s has no name to follow", given);
		snprintf(name, sizeof(roster->name[i]), "%s", domain.name);
	}
	return 0;
}

static int add_followed(struct roster *roster, struct error *err)
{
	size_t domains = roster->options->domains;

	for (size_t i = 0; i < domains; i++)
		if (set_followed_name(roster, i, err) < 0)
			return -1;
	if (add_present(roster, err) < 0)
		return -1;
	for (size_t i = 0; i < domains; i++)
		if (!name_is_sampled(roster, roster->name[i]))
			notify(roster->options->notify, "waiting for '%s'",
			       roster->name[i]);
	return 0;
}

static int add_all_named(struct roster *roster, struct error *err)
{
	for (size_t i = 0; i < roster->options->domains; i++)
		if (add_named(roster, roster->options->domain[i], err) < 0)
			return -1;
	return 0;
}

static int add_wanted(struct roster *roster, struct error *err)
{
	if (roster->options->all)
		return add_all(roster, err);
	return roster->options->follow ? add_followed(roster, err)
				       : add_all_named(roster, err);
}

/* Whether a domain's file should be looked for; for the watch's thread. */
static bool wants_file(const void *context, const struct guest_info *domain)
{
	return is_wanted(context, domain, false);
}

static int open_watch(struct roster *roster, struct error *err)
{
	const struct watch_wish wish = {
		.finder = roster->options->unwinding.finder,
		.wants = wants_file,
		.context = roster,
	};
	struct host *host = host_open(NULL, roster->options->force, err);

	roster->watch = watch_new(host, &wish, err);
	return roster->watch ? 0 : -1;
}

int roster_open(struct roster *roster, struct host *host,
		const struct record_options *options, const struct domain_tables *tables,
		struct examiner *examiner, struct error *err)
{
	*roster = (struct roster){
		.host = host,
		.options = options,
		.tables = tables,
		.examiner = examiner,
	};
	roster->name = calloc(options->domains + 1, sizeof(*roster->name));
	if (!roster->name)
		return error_set(err, "out of memory");
	if (options->follow && open_watch(roster, err) < 0)
		return -1;
	return add_wanted(roster, err);
}

void roster_close(struct roster *roster)
{
	roster_drop_all(roster);
	watch_free(roster->watch);
	free(roster->subject);
	free(roster->name);
	*roster = (struct roster){0};
}

int roster_start_watch(struct roster *roster, struct error *err)
{
	return roster->watch ? watch_start(roster->watch, err) : 0;
}

/* Spreads the turns of several domains over a period. */
void roster_begin(struct roster *roster, uint64_t start)
{
	uint64_t period = subject_period(roster->options);

	for (size_t i = 0; i < roster->subjects; i++)
		subject_begin(roster->subject[i], start + i * period / roster->subjects);
}

/* Starts the paces of the subjects that were just added: all except the first @before. */
static void begin_added(const struct roster *roster, size_t before, const char *what)
{
	bool maps_all = roster->host->ops->needs->maps_all;

	if (roster->subjects == before)
		return;
	/* Page faults must not extend a pause, so memory is locked. That must not fill
	 * the mapped memory of a guest. */
	mlockall(MCL_CURRENT | (maps_all ? MCL_ONFAULT : 0));
	for (size_t i = before; i < roster->subjects; i++) {
		subject_begin(roster->subject[i], clock_monotonic());
		subject_notify(roster->subject[i], what);
	}
}

/* A listing that is older than the end of a domain may still contain the domain. */
void roster_follow(struct roster *roster)
{
	size_t before = roster->subjects, count;
	struct watched *guests;

	guests = watch_take(roster->watch, roster->dropped, &count);
	if (!guests)
		return;
	for (size_t i = 0; i < count; i++)
		if (is_wanted(roster, &guests[i].info, false))
			add_listed(roster, &guests[i]);
	free(guests);
	begin_added(roster, before, "has started and is sampled");
}

size_t roster_first_due(const struct roster *roster)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < roster->subjects; i++)
		if (first == SIZE_MAX ||
		    pacer_due(&roster->subject[i]->pacer) <
			    pacer_due(&roster->subject[first]->pacer))
			first = i;
	return first;
}

size_t roster_first_waits(const struct roster *roster)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < roster->subjects; i++)
		if (roster->subject[i]->waits &&
		    (first == SIZE_MAX ||
		     waits_due(roster->subject[i]->waits) <
			     waits_due(roster->subject[first]->waits)))
			first = i;
	return first;
}

void roster_end(struct roster *roster, size_t i, bool gone)
{
	struct subject *subject = roster->subject[i];
	const struct guest *guest = subject->target.guest;

	subject_notify(subject, gone ? "has ended" : guest->ops->ending(guest));
	roster_drop(roster, i);
}

void roster_renew(struct roster *roster, size_t i)
{
	const struct program_table *table = roster->subject[i]->target.sampling.table;
	uint32_t id = roster->subject[i]->info.id;
	struct guest_info info;
	struct error why;
	size_t before;
	int status;

	roster_drop(roster, i);
	before = roster->subjects;
	status = roster->host->ops->info(roster->host, id, &info, &why);
	if (status == 0)
		status = add_subject(roster, &info, table, &why);
	if (status < 0)
		notify(roster->options->notify, "%s", why.text);
	begin_added(roster, before, "has new vCPUs, and is sampled with them");
}

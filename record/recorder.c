/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/clock.h"
#include "record/open.h"
#include "record/safety/priority.h"
#include "record/signals.h"
#include "record/stop.h"
#include "record/domains/subject.h"
#include "record/domains/watch.h"

/* Missing before glibc 2.24 (Linux 4.4, include/uapi/asm-generic/mman.h). */
#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif

/* How often to check the watch's list for new domains, and how often at least to check
 * that sampled domains still exist: rounds can be minutes apart. */
#define LOOK_NS	 (NS_PER_S / 10)
#define CHECK_NS NS_PER_S

struct recorder {
	struct host *host;
	struct guard *guard;
	const struct record_options *options;
	const struct domain_tables *tables;
	struct examiner *examiner; /* of guests' code; NULL: it is not used */
	struct unwound unwound;
	struct sink *sink;
	struct subject **subject;
	size_t subjects;
	unsigned int domains; /* that were ever sampled: the next one's index */
	uint64_t end;	      /* ns, monotonic */
	uint64_t time;	      /* ns: total time of those that have ended */
	uint64_t skipped;     /* rounds of those, because of others' pauses */
	struct share share;   /* of the CPU */
	uint64_t rested;      /* no round before this time */
	uint64_t look;	      /* when to look for new domains again */
	uint64_t check;	      /* when to check that they still exist */
	char (*name)[sizeof(((struct guest_info *)0)->name)]; /* to follow */
	struct watch *watch;				      /* to follow; else NULL */
	uint64_t dropped; /* when the last guest was dropped: ns, monotonic */
};

/* Whether domains without a table that fits are not sampled. */
static bool needs_table(const struct recorder *recorder)
{
	return recorder->options->unwinding.call_graph == CALL_GRAPH_TABLE;
}

static int add(struct recorder *recorder, const struct guest_info *domain,
	       struct error *err)
{
	const struct program_table *table = domain_tables_find(recorder->tables, domain);
	struct subject *subject;

	if (!array_grow(&recorder->subject, recorder->subjects + 1,
			sizeof(*recorder->subject)))
		return error_set(err, "out of memory");
	if (recorder->domains > RECORDING_MAX_DOMAIN)
		return error_set(err, "too many domains: a recording holds at most %u",
				 RECORDING_MAX_DOMAIN + 1);
	if (needs_table(recorder) && !table)
		return error_set(err,
				 "there is no table for the domain '%s' (--call-graph)",
				 domain->name);
	subject = subject_new(recorder->host, recorder->options, domain, table,
			      recorder->examiner, recorder->domains, err);
	if (!subject)
		return -1;
	recorder->subject[recorder->subjects++] = subject;
	recorder->domains++;
	return 0;
}

/* Stops sampling the @i-th: mapped pages would keep the domain from being destroyed. */
static void drop(struct recorder *recorder, size_t i)
{
	struct subject *subject = recorder->subject[i];
	uint64_t now = clock_monotonic();
	uint64_t time = subject->start && now > subject->start ? now - subject->start : 0;

	unwound_add(&recorder->unwound, &subject->target);
	subject_notify_end(subject, time);
	recorder->time += time;
	recorder->skipped += subject->skipped;
	recorder->dropped = now;
	recorder->subject[i] = recorder->subject[--recorder->subjects];
	subject_free(subject);
}

static void drop_all(struct recorder *recorder)
{
	while (recorder->subjects)
		drop(recorder, recorder->subjects - 1);
}

static bool is_sampled(const struct recorder *recorder, uint32_t id)
{
	for (size_t i = 0; i < recorder->subjects; i++)
		if (recorder->subject[i]->info.id == id)
			return true;
	return false;
}

static bool is_followed(const struct recorder *recorder, const char *name)
{
	for (size_t i = 0; i < recorder->options->domains; i++)
		if (strcmp(recorder->name[i], name) == 0)
			return true;
	return recorder->options->all;
}

static bool name_is_sampled(const struct recorder *recorder, const char *name)
{
	for (size_t i = 0; i < recorder->subjects; i++)
		if (strcmp(recorder->subject[i]->info.name, name) == 0)
			return true;
	return false;
}

/* Whether a domain that should be sampled may still start. */
static bool is_waiting(const struct recorder *recorder)
{
	if (!recorder->options->follow || recorder->options->all)
		return recorder->options->follow;
	for (size_t i = 0; i < recorder->options->domains; i++)
		if (!name_is_sampled(recorder, recorder->name[i]))
			return true;
	return false;
}

/*
 * Adds the running domains that should be sampled and are not sampled yet. One that can't
 * be sampled is reported once. A domain under construction has no vCPUs, or is paused by
 * the toolstack: it is skipped until it runs, unless @paused_too.
 */
static void add_listed(struct recorder *recorder, const struct guest_info *guests,
		       size_t count, bool paused_too)
{
	struct error why;

	for (size_t i = 0; i < count; i++) {
		const struct guest_info *domain = &guests[i];

		if (!domain->id || domain->dying || domain->shutdown || !domain->vcpus ||
		    (domain->paused && !paused_too) || is_sampled(recorder, domain->id) ||
		    !is_followed(recorder, domain->name))
			continue;
		if (add(recorder, domain, &why) < 0) {
			if (recorder->watch)
				watch_refuse(recorder->watch, domain);
			notify(recorder->options->notify, "skipping '%s': %s",
			       domain->name, why.text);
		}
	}
}

/* The same for all domains that exist now. */
static int add_present(struct recorder *recorder, struct error *err)
{
	struct host *host = recorder->host;
	struct guest_info *guests;
	size_t count;

	if (host->ops->list(host, &guests, &count, err) < 0)
		return -1;
	add_listed(recorder, guests, count, true);
	free(guests);
	return 0;
}

/* A domain by the name or id that the user gave. */
static int add_named(struct recorder *recorder, const char *name, struct error *err)
{
	struct guest_info domain;

	if (host_find(recorder->host, name, &domain, err) < 0)
		return -1;
	if (domain.dying || domain.shutdown)
		return error_set(
			err, "domain '%s' %s", name,
			domain.dying ? "has ended"
				     : "is not running: it is shut down or suspended");
	return is_sampled(recorder, domain.id) ? 0 : add(recorder, &domain, err);
}

static int add_all(struct recorder *recorder, struct error *err)
{
	if (add_present(recorder, err) < 0)
		return -1;
	if (!recorder->subjects && !recorder->options->follow)
		return error_set(err, "there is no guest to sample (see uniprof list)");
	return 0;
}

/* A domain given by id is followed under its current name. */
static int name_followed(struct recorder *recorder, size_t i, struct error *err)
{
	const char *given = recorder->options->domain[i];
	char *name = recorder->name[i];
	struct guest_info domain;

	snprintf(name, sizeof(recorder->name[i]), "%s", given);
	if (given[strspn(given, "0123456789")] == 0) {
		if (host_find(recorder->host, given, &domain, err) < 0)
			return -1;
		if (!domain.name[0])
			return error_set(err, "domain %s has no name to follow", given);
		snprintf(name, sizeof(recorder->name[i]), "%s", domain.name);
	}
	return 0;
}

static int add_followed(struct recorder *recorder, struct error *err)
{
	size_t domains = recorder->options->domains;

	for (size_t i = 0; i < domains; i++)
		if (name_followed(recorder, i, err) < 0)
			return -1;
	if (add_present(recorder, err) < 0)
		return -1;
	for (size_t i = 0; i < domains; i++)
		if (!name_is_sampled(recorder, recorder->name[i]))
			notify(recorder->options->notify, "waiting for '%s'",
			       recorder->name[i]);
	return 0;
}

static int add_all_named(struct recorder *recorder, struct error *err)
{
	for (size_t i = 0; i < recorder->options->domains; i++)
		if (add_named(recorder, recorder->options->domain[i], err) < 0)
			return -1;
	return 0;
}

static int add_wanted(struct recorder *recorder, struct error *err)
{
	if (recorder->options->all)
		return add_all(recorder, err);
	return recorder->options->follow ? add_followed(recorder, err)
					 : add_all_named(recorder, err);
}

struct recorder *recorder_new(struct host *host, struct guard *guard,
			      const struct record_options *options,
			      const struct domain_tables *tables, struct error *err)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	enum call_graph call_graph = options->unwinding.call_graph;
	int status = 0;

	if (recorder)
		recorder->name = calloc(options->domains + 1, sizeof(*recorder->name));
	if (recorder && call_graph == CALL_GRAPH_AUTO)
		recorder->examiner = examiner_new();
	if (!recorder || !recorder->name ||
	    (call_graph == CALL_GRAPH_AUTO && !recorder->examiner)) {
		recorder_free(recorder);
		error_set(err, "out of memory");
		return NULL;
	}
	recorder->host = host;
	recorder->guard = guard;
	recorder->options = options;
	recorder->tables = tables;
	if (options->follow) {
		recorder->watch = watch_new(host_open(NULL, options->force, err), err);
		status = recorder->watch ? 0 : -1;
	}
	if (status == 0 && add_wanted(recorder, err) == 0)
		return recorder;
	recorder_free(recorder);
	return NULL;
}

int recorder_start(struct recorder *recorder, struct error *err)
{
	if (!recorder->examiner)
		return 0;
	if (examiner_start(recorder->examiner, err) < 0)
		return -1;
	recorder->share.usual = examiner_clock(recorder->examiner);
	return 0;
}

void recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return;
	drop_all(recorder);
	examiner_free(recorder->examiner);
	watch_free(recorder->watch);
	free(recorder->subject);
	free(recorder->name);
	free(recorder);
}

/* The turns of several domains are spread over a period. */
static void begin_all(struct recorder *recorder, uint64_t start)
{
	uint64_t period = subject_period(recorder->options);

	for (size_t i = 0; i < recorder->subjects; i++)
		subject_begin(recorder->subject[i],
			      start + i * period / recorder->subjects);
	recorder->look = start;
	recorder->check = start + CHECK_NS;
	share_rest(&recorder->share, start);
}

/* Starts with those that were just added: all but the first @before. */
static void begin_added(const struct recorder *recorder, size_t before, const char *what)
{
	bool maps_all = recorder->host->ops->needs->maps_all;

	if (recorder->subjects == before)
		return;
	/* Page faults must not extend a pause. A guest's memory that is mapped must not
	 * be filled for that. */
	mlockall(MCL_CURRENT | (maps_all ? MCL_ONFAULT : 0));
	for (size_t i = before; i < recorder->subjects; i++) {
		subject_begin(recorder->subject[i], clock_monotonic());
		subject_notify(recorder->subject[i], what);
	}
}

/* Adds domains to follow that have started since the last call. A listing older than the
 * end of a domain may still contain it. */
static void follow(struct recorder *recorder)
{
	size_t before = recorder->subjects, count;
	struct guest_info *guests;

	recorder->look = clock_monotonic() + LOOK_NS;
	guests = watch_take(recorder->watch, recorder->dropped, &count);
	if (!guests)
		return;
	add_listed(recorder, guests, count, false);
	free(guests);
	begin_added(recorder, before, "has started and is sampled");
}

/* The domain to sample next; SIZE_MAX if there is none. */
static size_t next(const struct recorder *recorder)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < recorder->subjects; i++)
		if (first == SIZE_MAX ||
		    pacer_due(&recorder->subject[i]->pacer) <
			    pacer_due(&recorder->subject[first]->pacer))
			first = i;
	return first;
}

/*
 * If the domain runs other programs than its table describes: notifies the user, once,
 * that it is unwound by frame pointers; or returns true with the reason in @err if it
 * must not be sampled then.
 */
static bool is_refused(const struct recorder *recorder, struct subject *subject,
		       struct error *err)
{
	const struct table_check *check =
		&sampler_learning(subject->target.sampler)->table;
	const char *name = subject->info.name;

	if (subject->refused || check->state != TABLE_REFUSED)
		return false;
	subject->refused = true;
	if (needs_table(recorder)) {
		error_set(err, "'%s' is not sampled: %s", name, check->why.text);
		return true;
	}
	notify(recorder->options->notify, "'%s' is unwound by frame pointers: %s", name,
	       check->why.text);
	return false;
}

/* Takes a round that is due, and passes it to the writer. 1 with @err set if the
 * domain must not be sampled, because its table does not fit. */
static int take_round(struct recorder *recorder, struct subject *subject,
		      enum round_outcome *outcome, struct error *err)
{
	uint64_t missed, paused = 0;
	uint32_t weight = pacer_begin(&subject->pacer, clock_monotonic(), &missed);
	struct recording_domain description;
	struct round round;

	if (sampler_round(subject->target.sampler, weight, &round, err) < 0)
		return -1;
	for (unsigned int i = 0; i < round.pauses; i++)
		paused += round.pause[i];
	pacer_end(&subject->pacer, paused);
	if (is_refused(recorder, subject, err))
		return 1;
	subject->rounds++;
	subject->thinned += weight - 1;
	subject->skipped += round.outcome == ROUND_PAUSED;
	if (!subject->described) {
		target_describe(&subject->target, &description);
		subject->described = sink_domain(recorder->sink, &description);
	}
	sink_round(recorder->sink, &round, missed);
	recorder->rested = share_rest(&recorder->share, clock_monotonic());
	*outcome = round.outcome;
	return 0;
}

/* The @i-th has ended: reports how. */
static void end(struct recorder *recorder, size_t i, bool gone)
{
	struct subject *subject = recorder->subject[i];
	const struct guest *guest = subject->target.guest;

	subject_notify(subject, gone ? "has ended" : guest->ops->ending(guest));
	drop(recorder, i);
}

/* Samples the @i-th, which may have ended. */
static int sample(struct recorder *recorder, size_t i, struct error *err)
{
	enum round_outcome outcome;
	int status = take_round(recorder, recorder->subject[i], &outcome, err);

	if (status < 0)
		return -1;
	if (status > 0) {
		drop(recorder, i);
		if (!recorder->subjects && !recorder->options->follow)
			return -1;
		notify(recorder->options->notify, "%s", err->text);
	} else if (outcome == ROUND_SHUT || outcome == ROUND_GONE) {
		end(recorder, i, outcome == ROUND_GONE);
	}
	return 0;
}

/* Samples the @i-th with its new vCPUs, from here on as another domain of the recording,
 * because the number of a domain's vCPUs is fixed. */
static void renew(struct recorder *recorder, size_t i)
{
	uint32_t id = recorder->subject[i]->info.id;
	struct guest_info info;
	struct error why;
	size_t before;
	int status;

	drop(recorder, i);
	before = recorder->subjects;
	status = recorder->host->ops->info(recorder->host, id, &info, &why);
	if (status == 0)
		status = add(recorder, &info, &why);
	if (status < 0)
		notify(recorder->options->notify, "%s", why.text);
	begin_added(recorder, before, "has new vCPUs, and is sampled with them");
}

static int check(struct recorder *recorder, struct error *err)
{
	uint64_t now = clock_monotonic();

	recorder->check = now + CHECK_NS;
	for (size_t i = recorder->subjects; i-- > 0;) {
		struct guest *guest = recorder->subject[i]->target.guest;
		enum observation observation;

		if (guest->ops->observe(guest, now, &observation, err) < 0)
			return -1;
		if (observation == OBSERVED_GREW)
			renew(recorder, i);
		if (observation == OBSERVED_SHUT || observation == OBSERVED_GONE)
			end(recorder, i, observation == OBSERVED_GONE);
	}
	return 0;
}

/* Handles a signal; END_UNKNOWN: continue. */
static enum end_reason handle(const struct recorder *recorder, int number,
			      struct error *err)
{
	uint64_t stopped = 0; /* ns */

	if (number == SIGCHLD && !guard_alive(recorder->guard)) {
		error_set(err, "the guard process was killed; refusing to sample "
			       "without it");
		return END_ERROR;
	}
	if (number == SIGTSTP)
		stopped = stop_here(recorder->subject, recorder->subjects);
	if (stopped)
		notify(recorder->options->notify, "stopped for %.1f s, without samples",
		       (double)stopped / NS_PER_S);
	if (number == SIGCONT)
		stop_ended(recorder->subject, recorder->subjects);
	return number == SIGTSTP || number == SIGCONT || number == SIGCHLD ? END_UNKNOWN
									   : END_SIGNAL;
}

/* What to do next, and when. */
struct task {
	enum {
		SAMPLE,
		CHECK,
		FOLLOW,
		END
	} kind;
	uint64_t time;
	size_t subject; /* to SAMPLE */
};

static void consider(struct task *task, int kind, uint64_t time)
{
	if (time <= task->time)
		*task = (struct task){
			.kind = kind, .time = time, .subject = task->subject};
}

/* The next task; if several are due at the same time, the last one here. */
static struct task next_task(const struct recorder *recorder, uint64_t end)
{
	struct task task = {.kind = CHECK, .time = recorder->check};
	size_t i = next(recorder);

	if (i != SIZE_MAX) {
		uint64_t due = pacer_due(&recorder->subject[i]->pacer);

		task.subject = i;
		consider(&task, SAMPLE, due > recorder->rested ? due : recorder->rested);
	}
	if (is_waiting(recorder))
		consider(&task, FOLLOW, recorder->look);
	consider(&task, END, end);
	return task;
}

static enum end_reason loop(struct recorder *recorder, const sigset_t *signals,
			    uint64_t end, struct error *err)
{
	while (recorder->subjects || recorder->options->follow) {
		struct task task = next_task(recorder, end);
		int number = signals_wait(signals, task.time), status = 0;

		if (number) {
			enum end_reason reason = handle(recorder, number, err);

			if (reason != END_UNKNOWN)
				return reason;
			continue;
		}
		if (clock_monotonic() >= end)
			return END_TIME;
		if (task.kind == SAMPLE)
			status = sample(recorder, task.subject, err);
		else if (task.kind == CHECK)
			status = check(recorder, err);
		else
			follow(recorder);
		if (status < 0 || sink_failed(recorder->sink))
			return END_ERROR;
	}
	return END_GUEST;
}

enum end_reason recorder_run(struct recorder *recorder, struct sink *sink,
			     const sigset_t *signals, uint64_t start, struct error *err)
{
	uint64_t limit = recorder->options->time_limit;
	enum end_reason reason;

	recorder->sink = sink;
	recorder->end = clock_monotonic();
	if (recorder->watch && watch_start(recorder->watch, err) < 0)
		return END_ERROR;
	begin_all(recorder, start);
	reason = guard_alive(recorder->guard) ? END_UNKNOWN
					      : handle(recorder, SIGCHLD, err);
	if (reason == END_UNKNOWN)
		reason = loop(recorder, signals, limit ? start + limit : UINT64_MAX, err);
	recorder->end = clock_monotonic();
	drop_all(recorder);
	return reason;
}

uint64_t recorder_end(const struct recorder *recorder)
{
	return recorder->end;
}

unsigned int recorder_domains(const struct recorder *recorder)
{
	return recorder->domains;
}

uint64_t recorder_time(const struct recorder *recorder)
{
	return recorder->time;
}

const struct unwound *recorder_unwound(const struct recorder *recorder)
{
	return &recorder->unwound;
}

uint64_t recorder_skipped(const struct recorder *recorder)
{
	return recorder->skipped;
}

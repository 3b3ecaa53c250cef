/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "record/pacer.h"
#include "record/signals.h"
#include "record/target.h"

/* How often to look for domains that are to be followed, and at least whether
 * those that are sampled are still there: rounds can be minutes apart. */
#define LOOK_NS	 (NS_PER_S / 4)
#define CHECK_NS NS_PER_S

/* Xen's domain ids are below this (DOMID_FIRST_RESERVED, xen.h). */
#define DOMAIN_IDS 0x7ff0

/* A domain while it is sampled. */
struct subject {
	struct target target;
	struct pacer pacer;
	bool described;	  /* in the recording */
	uint64_t start;	  /* ns, monotonic */
	uint64_t rounds;  /* taken or skipped */
	uint64_t skipped; /* as someone else held it paused */
	uint64_t thinned; /* left out to keep the overhead low */
};

struct recorder {
	struct xen *xen;
	const struct record_options *options;
	struct sink *sink;
	struct subject **subject;
	size_t subjects;
	unsigned int domains; /* that were ever subjects: the next one's index */
	uint64_t end;	      /* ns, monotonic */
	uint64_t time;	      /* ns: how long those were that are none any more */
	uint64_t rested;      /* no round before this time */
	uint64_t look;	      /* when to look for domains again */
	uint64_t check;	      /* and whether these are still there */
	char (*name)[sizeof(((struct xen_domain *)0)->name)]; /* to follow */
	bool refused[DOMAIN_IDS];			      /* not to be tried again */
};

static void note(const struct subject *subject, const char *text)
{
	fprintf(stderr, "uniprof record: '%s' %s\n", subject->target.domain.name, text);
}

/* The wanted one, ns. */
static uint64_t period_of(const struct recorder *recorder)
{
	return NS_PER_S / recorder->options->frequency;
}

static int add(struct recorder *recorder, const struct xen_domain *domain,
	       struct error *err)
{
	size_t size = (recorder->subjects + 1) * sizeof(*recorder->subject);
	struct subject **grown = realloc(recorder->subject, size);
	struct subject *subject = calloc(1, sizeof(*subject));

	if (grown)
		recorder->subject = grown;
	if (!grown || !subject) {
		free(subject);
		return error_set(err, "not enough memory");
	}
	if (recorder->domains > RECORDING_MAX_DOMAIN) {
		free(subject);
		return error_set(err, "a recording has no room for more than %u domains",
				 RECORDING_MAX_DOMAIN + 1);
	}
	if (target_open(&subject->target, recorder->xen, domain, recorder->options->vcpus,
			recorder->domains, period_of(recorder), err) < 0) {
		free(subject);
		return -1;
	}
	if (recorder->options->verbose)
		fprintf(stderr,
			"uniprof record: domain %u '%s', %s, %u of %u vCPUs online\n",
			domain->id, domain->name, guest_type_name(domain->type),
			domain->online, domain->vcpus);
	recorder->subject[recorder->subjects++] = subject;
	recorder->domains++;
	return 0;
}

static void print_notes(const struct recorder *recorder, const struct subject *subject,
			uint64_t time)
{
	if (subject->thinned)
		fprintf(stderr,
			"uniprof record: the rate was lowered to %.1f Hz on average for "
			"'%s', as pauses may take %g %% of the time (--max-overhead)\n",
			(double)subject->rounds * NS_PER_S / (double)time,
			subject->target.domain.name,
			recorder->options->max_overhead * 100);
	if (subject->skipped)
		fprintf(stderr,
			"uniprof record: %" PRIu64
			" rounds were skipped, as someone else had paused '%s'\n",
			subject->skipped, subject->target.domain.name);
}

/* The @i-th is sampled no more: what is held of it would keep it from ending. */
static void drop(struct recorder *recorder, size_t i)
{
	struct subject *subject = recorder->subject[i];
	uint64_t now = clock_monotonic();
	uint64_t time = subject->start && now > subject->start ? now - subject->start : 0;

	target_close(&subject->target);
	print_notes(recorder, subject, time);
	recorder->time += time;
	recorder->subject[i] = recorder->subject[--recorder->subjects];
	free(subject);
}

static void drop_all(struct recorder *recorder)
{
	while (recorder->subjects)
		drop(recorder, recorder->subjects - 1);
}

static bool is_sampled(const struct recorder *recorder, uint32_t id)
{
	for (size_t i = 0; i < recorder->subjects; i++)
		if (recorder->subject[i]->target.domain.id == id)
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
		if (strcmp(recorder->subject[i]->target.domain.name, name) == 0)
			return true;
	return false;
}

/* Whether a domain may come that is to be sampled. */
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
 * Adds the domains that are to be sampled, run, and are not sampled yet. One that
 * can't be sampled is said once. A domain that is being built has no vCPUs, or is
 * paused by who builds it: it is left until it runs, unless all are asked for.
 */
static int look(struct recorder *recorder, bool paused_too, struct error *err)
{
	struct xen_domain *domains;
	struct error why;
	size_t count;

	if (xen_domain_list(recorder->xen, &domains, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const struct xen_domain *domain = &domains[i];

		if (!domain->id || domain->id >= DOMAIN_IDS || domain->dying ||
		    domain->shutdown || !domain->vcpus ||
		    (domain->paused && !paused_too) || recorder->refused[domain->id] ||
		    is_sampled(recorder, domain->id) ||
		    !is_followed(recorder, domain->name))
			continue;
		if (add(recorder, domain, &why) < 0) {
			recorder->refused[domain->id] = true;
			fprintf(stderr, "uniprof record: '%s' is left out: %s\n",
				domain->name, why.text);
		}
	}
	free(domains);
	return 0;
}

/* A domain by the name or id that the user gave. */
static int add_named(struct recorder *recorder, const char *name, struct error *err)
{
	struct xen_domain domain;

	if (xen_domain_find(recorder->xen, name, &domain, err) < 0)
		return -1;
	if (domain.dying || domain.shutdown)
		return error_set(err, "domain '%s' %s", name,
				 domain.dying
					 ? "has ended"
					 : "does not run: it is shut down or suspended");
	return is_sampled(recorder, domain.id) ? 0 : add(recorder, &domain, err);
}

static int add_all(struct recorder *recorder, struct error *err)
{
	if (look(recorder, true, err) < 0)
		return -1;
	if (!recorder->subjects && !recorder->options->follow)
		return error_set(err, "there is no guest to sample (uniprof list shows "
				      "all domains)");
	return 0;
}

/* Who is given by an id is followed by the name that belongs to it. */
static int add_followed(struct recorder *recorder, size_t i, struct error *err)
{
	const char *given = recorder->options->domain[i];
	char *name = recorder->name[i];
	struct xen_domain domain;

	snprintf(name, sizeof(recorder->name[i]), "%s", given);
	if (given[strspn(given, "0123456789")] == 0) {
		if (xen_domain_find(recorder->xen, given, &domain, err) < 0)
			return -1;
		if (!domain.name[0])
			return error_set(err, "domain %s has no name to follow", given);
		snprintf(name, sizeof(recorder->name[i]), "%s", domain.name);
	}
	if (look(recorder, true, err) < 0)
		return -1;
	if (!name_is_sampled(recorder, name))
		fprintf(stderr, "uniprof record: waiting for '%s'\n", name);
	return 0;
}

struct recorder *recorder_new(struct xen *xen, const struct record_options *options,
			      struct error *err)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	int status = 0;

	if (recorder)
		recorder->name = calloc(options->domains + 1, sizeof(*recorder->name));
	if (!recorder || !recorder->name) {
		free(recorder);
		error_set(err, "not enough memory");
		return NULL;
	}
	recorder->xen = xen;
	recorder->options = options;
	if (options->all)
		status = add_all(recorder, err);
	for (size_t i = 0; i < options->domains && status == 0; i++)
		status = options->follow ? add_followed(recorder, i, err)
					 : add_named(recorder, options->domain[i], err);
	if (status == 0)
		return recorder;
	recorder_free(recorder);
	return NULL;
}

void recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return;
	drop_all(recorder);
	free(recorder->subject);
	free(recorder->name);
	free(recorder);
}

static void begin(const struct recorder *recorder, struct subject *subject,
		  uint64_t start)
{
	const struct pace pace = {
		.frequency = recorder->options->frequency,
		.max_overhead = recorder->options->max_overhead,
		.jitter = recorder->options->jitter,
	};

	subject->start = start;
	pacer_start(&subject->pacer, &pace, start, start);
}

/* The turns of several domains are spread over a period. */
static void begin_all(struct recorder *recorder, uint64_t start)
{
	uint64_t period = period_of(recorder);

	for (size_t i = 0; i < recorder->subjects; i++)
		begin(recorder, recorder->subject[i],
		      start + i * period / recorder->subjects);
	recorder->look = start;
	recorder->check = start + CHECK_NS;
}

/* Looks for domains to follow, from time to time. What can't be asked now is asked
 * next time. */
static void follow(struct recorder *recorder)
{
	size_t before = recorder->subjects;
	struct error err;

	look(recorder, false, &err);
	recorder->look = clock_monotonic() + LOOK_NS;
	if (recorder->subjects == before)
		return;
	/* No page fault shall prolong a pause. */
	mlockall(MCL_CURRENT);
	for (size_t i = before; i < recorder->subjects; i++) {
		begin(recorder, recorder->subject[i], clock_monotonic());
		note(recorder->subject[i], "is there, and is sampled");
	}
}

/* Whose turn is next; SIZE_MAX when there is none. */
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
 * Takes a round that is due, and hands it to the writer. A rest follows that is as
 * long: who samples goes before all others, and on a single CPU they would starve.
 */
static int take_round(struct recorder *recorder, struct subject *subject,
		      enum round_outcome *outcome, struct error *err)
{
	uint64_t begun = clock_monotonic(), missed, paused = 0, now;
	uint32_t weight = pacer_begin(&subject->pacer, begun, &missed);
	struct recording_domain description;
	struct round round;

	if (sampler_round(subject->target.sampler, weight, &round, err) < 0)
		return -1;
	for (unsigned int i = 0; i < round.pauses; i++)
		paused += round.pause[i];
	pacer_end(&subject->pacer, paused);
	subject->rounds++;
	subject->thinned += weight - 1;
	subject->skipped += round.outcome == ROUND_PAUSED;
	if (!subject->described) {
		target_describe(&subject->target, &description);
		subject->described = sink_domain(recorder->sink, &description);
	}
	sink_round(recorder->sink, &round, missed);
	now = clock_monotonic();
	recorder->rested = now + (now - begun);
	*outcome = round.outcome;
	return 0;
}

/* The @i-th has ended: says how. */
static void end(struct recorder *recorder, size_t i, bool gone)
{
	struct subject *subject = recorder->subject[i];

	note(subject, gone ? "has ended" : capture_ending(subject->target.capture));
	drop(recorder, i);
}

/* A turn of the @i-th, which may be its last. */
static int sample(struct recorder *recorder, size_t i, struct error *err)
{
	enum round_outcome outcome;

	if (take_round(recorder, recorder->subject[i], &outcome, err) < 0)
		return -1;
	if (outcome == ROUND_SHUT || outcome == ROUND_GONE)
		end(recorder, i, outcome == ROUND_GONE);
	return 0;
}

static int check(struct recorder *recorder, struct error *err)
{
	recorder->check = clock_monotonic() + CHECK_NS;
	for (size_t i = recorder->subjects; i-- > 0;) {
		enum observation observation;

		if (capture_observe(recorder->subject[i]->target.capture, &observation,
				    err) < 0)
			return -1;
		if (observation == OBSERVED_SHUT || observation == OBSERVED_GONE)
			end(recorder, i, observation == OBSERVED_GONE);
	}
	return 0;
}

static bool guards_alive(const struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->subjects; i++)
		if (!guard_alive(recorder->subject[i]->target.guard))
			return false;
	return true;
}

/* What a signal asks for: END_UNKNOWN to go on. */
static enum end_reason handle(const struct recorder *recorder, int number,
			      struct error *err)
{
	if (number == SIGCHLD && !guards_alive(recorder)) {
		error_set(err, "the process that guards the guest was killed; not "
			       "sampling without it");
		return END_ERROR;
	}
	if (number == SIGTSTP)
		raise(SIGSTOP); /* here, where nothing is paused */
	return number == SIGTSTP || number == SIGCHLD ? END_UNKNOWN : END_SIGNAL;
}

/* What there is to do, and when. */
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

/* The next thing to do: of several at once, the last here. */
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
	begin_all(recorder, start);
	reason = guards_alive(recorder) ? END_UNKNOWN : handle(recorder, SIGCHLD, err);
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/domains/subject.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* Minimum number of chains to decide whether frame pointers are missing */
#define CHAINS_MIN 32

uint64_t subject_period(const struct record_options *options)
{
	return NS_PER_S / options->frequency;
}

/* Tells how it is known where the guest's memory is. */
static void notify_memory(const struct guest *guest, notify_function *to)
{
	struct error line;

	if (!guest->ops->explain_memory)
		return;
	guest->ops->explain_memory(guest, &line);
	notify(to, "%s", line.text);
}

/* Returns why the guest has no events. */
static const char *explain_no_events(const struct guest *guest)
{
	return guest->no_events.text[0] ? guest->no_events.text
					: "only KVM on AMD can do that";
}

/* Explains why a guest is not sampled that must not be paused. */
static int explain_only(const struct guest *guest, const struct record_options *options,
			struct error *err)
{
	const char *why = explain_no_events(guest);

	if (options->event.name[0])
		return error_set(err, "'%s' can't be sampled by %s: %s", guest->info.name,
				 options->event.name, why);
	return error_set(err, "'%s' can't be sampled without stopping it: %s",
			 guest->info.name, why);
}

/* Checks that the guest is sampled without pauses, if it must be. */
static int check_events(const struct subject *subject,
			const struct record_options *options, struct error *err)
{
	const struct guest *guest = subject->target.guest;

	if (!options->no_stop || guest->has_events)
		return 0;
	if (options->no_stop == NO_STOP_ONLY)
		return explain_only(guest, options, err);
	if (options->verbose)
		notify(options->notify, "'%s' is stopped for each sample: %s",
		       guest->info.name, explain_no_events(guest));
	return 0;
}

struct subject *subject_new(struct host *host, const struct record_options *options,
			    const struct guest_info *domain,
			    const struct program_table *table, struct examiner *examiner,
			    uint32_t index, struct error *err)
{
	const struct sampling sampling = {
		.index = index,
		.period = subject_period(options),
		.table = table,
		.examiner = examiner,
		.chains_min = CHAINS_MIN,
		.stack_bytes = options->unwinding.stack_bytes,
		.no_stop = options->no_stop,
		.counts_events = options->event.name[0] != 0,
	};
	struct subject *subject = calloc(1, sizeof(*subject));

	if (!subject) {
		error_set(err, "out of memory");
		return NULL;
	}
	host->event_period = options->no_stop ? sampling.period : 0;
	host->event = sampling.counts_events ? &options->event : NULL;
	if (target_open(&subject->target, host, domain, options->vcpus, &sampling, err) <
	    0) {
		free(subject);
		return NULL;
	}
	if (check_events(subject, options, err) < 0) {
		subject_free(subject);
		return NULL;
	}
	if (options->waits) {
		bool is_pipe = strcmp(options->output, "-") == 0;

		subject->waits = waits_new(NS_PER_S / options->waits,
					   is_pipe ? WAITS_CHUNK_PIPE : WAITS_CHUNK,
					   sampler_learner(subject->target.sampler),
					   index);
		if (!subject->waits) {
			error_set(err, "out of memory");
			subject_free(subject);
			return NULL;
		}
	}
	if (options->verbose) {
		notify(options->notify, "domain %u '%s', %s%s%s, %u of %u vCPUs online",
		       domain->id, domain->name, guest_type_name(domain->type),
		       domain->vmm[0] ? ", " : "", domain->vmm, domain->online,
		       domain->vcpus);
		notify_memory(subject->target.guest, options->notify);
	}
	subject->options = options;
	subject->info = *domain;
	return subject;
}

void subject_free(struct subject *subject)
{
	waits_free(subject->waits);
	target_close(&subject->target);
	free(subject);
}

/* How often events are read: before a quarter of those that are kept is used up, and
 * often enough for a recording to be followed. */
#define READ_FREQUENCY 10
#define READ_EVENTS    16

static void start_pacer(struct subject *subject, uint64_t start)
{
	const struct record_options *options = subject->options;
	const uint64_t reads = options->frequency / READ_EVENTS + 1;
	struct pace pace = {
		.frequency = options->frequency,
		.max_overhead = options->max_overhead,
		.jitter = options->jitter,
	};

	subject->has_events = subject->target.guest->has_events;
	if (subject->has_events && pace.frequency > READ_FREQUENCY)
		pace.frequency = reads > READ_FREQUENCY ? reads : READ_FREQUENCY;
	pacer_start(&subject->pacer, &pace, start, start);
}

void subject_begin(struct subject *subject, uint64_t start)
{
	subject->start = start;
	start_pacer(subject, start);
	if (subject->waits)
		waits_begin(subject->waits, start);
}

int subject_follow_events(struct subject *subject, uint64_t now, struct error *err)
{
	const struct guest *guest = subject->target.guest;

	if (subject->has_events == guest->has_events)
		return 0;
	if (subject->options->no_stop == NO_STOP_ONLY)
		return explain_only(guest, subject->options, err);
	start_pacer(subject, now);
	notify(subject->options->notify,
	       "'%s' is stopped for each sample from now on: %s", guest->info.name,
	       explain_no_events(guest));
	return 0;
}

void subject_notify(const struct subject *subject, const char *text)
{
	notify(subject->options->notify, "'%s' %s", subject->info.name, text);
}

/* @at_end: also of files whose programs were never there. */
static void notify_missing(struct subject *subject, bool at_end)
{
	const struct table_check *check =
		&sampler_learning(subject->target.sampler)->table;

	if (check->state != TABLE_USED)
		return;
	for (size_t i = 0; i < check->placed.table->origins; i++) {
		const struct table_miss *miss = &check->miss[i];

		if (check->placed.is_found[i] || subject->missed[i] ||
		    !(miss->is_given_up || (at_end && miss->why.text[0])))
			continue;
		subject->missed[i] = true;
		notify(subject->options->notify, "'%s' %s unwound without %s: %s",
		       subject->info.name, at_end ? "was" : "is",
		       check->placed.table->origin[i].name, miss->why.text);
	}
}

void subject_notify_missing(struct subject *subject)
{
	notify_missing(subject, false);
}

void subject_notify_end(struct subject *subject, uint64_t time)
{
	const struct table_check *check =
		&sampler_learning(subject->target.sampler)->table;
	notify_function *to = subject->options->notify;
	const char *name = subject->info.name;
	const struct guest_ops *ops = subject->target.guest->ops;
	struct error memory;

	if (check->state == TABLE_PENDING && table_check_why(check)[0] &&
	    !check->placed.table->is_found)
		notify(to, "'%s' was unwound by frame pointers: %s", name,
		       table_check_why(check));
	notify_missing(subject, true);
	if (ops->explain_memory && !ops->explain_memory(subject->target.guest, &memory))
		notify(to, "%s", memory.text);
	if (subject->thinned)
		notify(to,
		       "the rate was lowered to %.1f Hz on average for '%s': pauses, up "
		       "to %.3g ms in a round, may take at most %g %% of any ten seconds "
		       "(--max-overhead)",
		       (double)subject->rounds * NS_PER_S / (double)time, name,
		       (double)subject->longest / 1000000,
		       subject->options->max_overhead * 100);
	if (subject->skipped)
		notify(to,
		       "%" PRIu64
		       " rounds were skipped because someone else had paused '%s'",
		       subject->skipped, name);
	if (subject->late)
		notify(to,
		       "%" PRIu64
		       " rounds were skipped because no vCPU of '%s' stopped in time: "
		       "the host is busy, or its VMM waits for a device",
		       subject->late, name);
}

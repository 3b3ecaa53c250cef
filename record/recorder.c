/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recorder.h"

#include <stdlib.h>

#include "base/clock.h"
#include "record/safety/priority.h"
#include "record/safety/privileges.h"
#include "record/signals.h"
#include "record/stop.h"

/* Time between two looks for new domains, ns, and maximum time between two checks that
 * sampled domains still exist, ns: rounds can be minutes apart. */
#define LOOK_NS	 (NS_PER_S / 10)
#define CHECK_NS NS_PER_S
/* Maximum time between two checks while a part of a guest may stop late, ns: it stays
 * stopped until a check. */
#define LATE_NS (NS_PER_S / 50)

struct recorder {
	struct guard *guard;
	const struct record_options *options;
	struct examiner *examiner; /* examiner of guests' code; NULL: not used */
	struct roster roster;
	struct sink *sink;
	struct share share;    /* share of the CPU */
	uint64_t rested;       /* no round starts before this time, ns, monotonic */
	uint64_t waits_rested; /* likewise no part of a round of waits */
	uint64_t look;	       /* time of the next look for new domains, ns, monotonic */
	uint64_t check; /* time of the next check that domains still exist, ns, monotonic
			 */
	struct signals_waits waited;
	uint64_t end;	    /* end of sampling, ns, monotonic */
	uint64_t unwatched; /* time since when the guard does not watch, ns, monotonic; 0:
			     * it does */
};

struct recorder *recorder_new(struct host *host, struct guard *guard,
			      const struct record_options *options,
			      const struct domain_tables *tables, struct error *err)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	bool examines = options->unwinding.call_graph == CALL_GRAPH_AUTO;

	if (recorder && examines)
		recorder->examiner = examiner_new();
	if (!recorder || (examines && !recorder->examiner)) {
		free(recorder);
		error_set(err, "out of memory");
		return NULL;
	}
	recorder->guard = guard;
	recorder->options = options;
	if (roster_open(&recorder->roster, host, options, tables, recorder->examiner,
			err) == 0)
		return recorder;
	recorder_free(recorder);
	return NULL;
}

static void begin_helper(void)
{
	privileges_drop(KEEP_INSPECTING);
}

int recorder_start(struct recorder *recorder, struct error *err)
{
	struct host *host = recorder->roster.host;

	if (host->ops->start_helper &&
	    host->ops->start_helper(host, begin_helper, err) < 0)
		return -1;
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
	roster_close(&recorder->roster);
	examiner_free(recorder->examiner);
	free(recorder);
}

/*
 * Handles a domain that runs other programs than its table describes. Notifies the user,
 * once, that it is unwound by frame pointers; or returns true, with the reason in @err,
 * if it must not be sampled without the table.
 */
static bool handle_refused_table(const struct recorder *recorder, struct subject *subject,
				 struct error *err)
{
	const struct table_check *check =
		&sampler_learning(subject->target.sampler)->table;
	const char *name = subject->info.name;
	bool is_found;

	if (subject->refused || check->state != TABLE_REFUSED)
		return false;
	subject->refused = true;
	is_found = check->placed.table->is_found;
	if (is_found && recorder->options->verbose)
		notify(recorder->options->notify, "'%s' does not run what was found: %s",
		       name, table_check_why(check));
	if (is_found)
		return false;
	if (roster_needs_tables(&recorder->roster)) {
		error_set(err, "'%s' is not sampled: %s", name, table_check_why(check));
		return true;
	}
	notify(recorder->options->notify, "'%s' is unwound by frame pointers: %s", name,
	       table_check_why(check));
	return false;
}

/* Returns how much is known of where the guest has its table's files. */
static size_t count_files(const struct subject *subject)
{
	const struct learning *learning = sampler_learning(subject->target.sampler);
	struct rival_space list[RECORDING_SPACES];

	return learning_files(learning) +
	       learning_rivals(learning, list, RECORDING_SPACES);
}

/* Describes the domain in the recording, and once more when its kind of CPU is known and
 * when more is known of its table's files. */
static void describe_subject(const struct recorder *recorder, struct subject *subject)
{
	size_t files = count_files(subject);
	bool is_known = target_kind(&subject->target) != CPU_UNKNOWN;
	struct recording_domain description;

	if (subject->described &&
	    (!is_known || (subject->cpu_described && subject->files_described == files)))
		return;
	target_describe(&subject->target, !subject->cpu_described, &description);
	if (!sink_domain(recorder->sink, &description))
		return; /* no space now */
	subject->described = true;
	subject->files_described = files;
	subject->cpu_described = is_known;
}

/* Returns how many samples a round stands for. */
static uint64_t sum_weights(const struct subject *subject, const struct round *round)
{
	uint64_t sum = 0;

	if (subject->target.sampling.counts_events)
		return round->samples;
	for (unsigned int i = 0; i < round->samples; i++)
		sum += round->sample[i].weight;
	return sum;
}

/* Passes the files of processes to the writer, and has them read again for a new file. */
static void pass_mappings(const struct recorder *recorder, struct subject *subject)
{
	struct sampler *sampler = subject->target.sampler;
	unsigned int files = sink_files(recorder->sink);

	sink_mappings(recorder->sink, subject->target.sampling.index,
		      sampler_take_mappings(sampler));
	if (subject->mapped_files && subject->mapped_files != files)
		sampler_forget_mappings(sampler);
	subject->mapped_files = files;
}

/* Takes a round, and passes it to the writer. 1 with @err set if the domain must not be
 * sampled, because its table does not fit. */
static int take_part(struct recorder *recorder, struct subject *subject, uint32_t weight,
		     uint64_t missed, struct round *round, struct error *err)
{
	const struct learning *learning = sampler_learning(subject->target.sampler);

	early_begin(&subject->early, learning);
	if (sampler_round(subject->target.sampler, weight, round, err) < 0)
		return -1;
	early_end(&subject->early, learning, round);
	if (handle_refused_table(recorder, subject, err))
		return 1;
	subject_notify_missing(subject);
	subject->rounds++;
	subject->skipped += round->outcome == ROUND_PAUSED;
	subject->late += round->outcome == ROUND_LATE;
	if (subject->has_events && !round->pauses)
		recorder->roster.unstopped += sum_weights(subject, round);
	describe_subject(recorder, subject);
	sink_kernel(recorder->sink, subject->target.sampling.index,
		    sampler_take_kallsyms(subject->target.sampler));
	pass_mappings(recorder, subject);
	sink_round(recorder->sink, round, missed + round->lost);
	return 0;
}

/* Takes the rounds that are due, several of a guest with events. 1 as take_part(), or
 * because it can't be sampled without pauses any more, and must not be paused. */
static int take_round(struct recorder *recorder, struct subject *subject,
		      enum round_outcome *outcome, struct error *err)
{
	uint64_t missed, paused = 0;
	uint32_t weight = pacer_begin(&subject->pacer, clock_monotonic(), &missed);
	struct round round;
	int status;

	/* Events are not missed because they are read late. */
	if (subject->has_events)
		missed = 0;
	else
		subject->thinned += weight - 1;
	do {
		status = take_part(recorder, subject, weight, missed, &round, err);
		missed = 0;
		for (unsigned int i = 0; status >= 0 && i < round.pauses; i++)
			paused += round.pause[i];
	} while (status == 0 && round.has_more);
	if (status < 0)
		return -1;
	pacer_end(&subject->pacer, paused);
	if (paused > subject->longest)
		subject->longest = paused;
	if (subject_follow_events(subject, clock_monotonic(), err) < 0)
		status = 1;
	recorder->rested = share_rest(&recorder->share, clock_monotonic());
	*outcome = round.outcome;
	return status;
}

/* Samples the @i-th subject, and drops it if it must not be sampled or has ended. */
static int sample_subject(struct recorder *recorder, size_t i, struct error *err)
{
	enum round_outcome outcome;
	int status = take_round(recorder, recorder->roster.subject[i], &outcome, err);

	if (status < 0)
		return -1;
	if (status > 0) {
		roster_drop(&recorder->roster, i);
		if (!recorder->roster.subjects && !recorder->options->follow)
			return -1;
		notify(recorder->options->notify, "%s", err->text);
	} else if (outcome == ROUND_SHUT || outcome == ROUND_GONE) {
		roster_end(&recorder->roster, i, outcome == ROUND_GONE);
	}
	return 0;
}

/* Takes a part of a round of the @i-th subject's waits, and rests as long as all of them
 * need to stay within their share of a CPU. */
static void take_waits(struct recorder *recorder, size_t i)
{
	struct waits *waits = recorder->roster.subject[i]->waits;
	uint64_t used = waits_take(waits, recorder->sink);

	recorder->waits_rested = clock_monotonic() +
				 (uint64_t)((double)used /
					    recorder->options->waits_max_cpu);
}

static void follow_domains(struct recorder *recorder)
{
	recorder->look = clock_monotonic() + LOOK_NS;
	roster_follow(&recorder->roster);
}

/* Ends or renews the subjects whose domains have ended or have new vCPUs. */
static int check_subjects(struct recorder *recorder, struct error *err)
{
	uint64_t now = clock_monotonic();

	recorder->check = now + CHECK_NS;
	for (size_t i = recorder->roster.subjects; i-- > 0;) {
		struct guest *guest = recorder->roster.subject[i]->target.guest;
		enum observation observation;

		if (guest->ops->observe(guest, now, &observation, err) < 0)
			return -1;
		if (observation == OBSERVED_GREW)
			roster_renew(&recorder->roster, i);
		if (observation == OBSERVED_SHUT || observation == OBSERVED_GONE)
			roster_end(&recorder->roster, i, observation == OBSERVED_GONE);
	}
	return 0;
}

/* Handles a signal; END_UNKNOWN: continue. */
static enum end_reason handle_signal(const struct recorder *recorder, int number,
				     struct error *err)
{
	uint64_t stopped = 0; /* ns */

	if (number == SIGCHLD && !guard_alive(recorder->guard)) {
		error_set(err, "the guard process was killed; refusing to sample "
			       "without it");
		return END_ERROR;
	}
	if (number == SIGTSTP)
		stopped = stop_here(recorder->roster.subject, recorder->roster.subjects);
	if (stopped)
		notify(recorder->options->notify, "stopped for %.1f s, without samples",
		       (double)stopped / NS_PER_S);
	if (number == SIGCONT)
		stop_ended(recorder->roster.subject, recorder->roster.subjects);
	return number == SIGTSTP || number == SIGCONT || number == SIGCHLD ? END_UNKNOWN
									   : END_SIGNAL;
}

/* Returns whether the guard watches. If not, it is stopped: until it is continued,
 * nothing may be paused. */
static bool is_watched(struct recorder *recorder)
{
	struct roster *roster = &recorder->roster;
	uint64_t now = clock_monotonic(), stopped;

	if (!guard_watches(recorder->guard)) {
		recorder->unwatched = recorder->unwatched ? recorder->unwatched : now;
		stop_rest(roster->subject, roster->subjects);
		return false;
	}
	if (recorder->unwatched) {
		stopped = now - recorder->unwatched;
		recorder->unwatched = 0;
		stop_ended(roster->subject, roster->subjects);
		/* Both processes may have been stopped, and continue one after the other.
		 */
		if (stopped > LOOK_NS)
			notify(recorder->options->notify,
			       "the guard process was stopped: no samples for %.1f s",
			       (double)stopped / NS_PER_S);
	}
	return true;
}

/* The next task of the recorder. */
struct task {
	enum {
		SAMPLE,
		CHECK,
		FOLLOW,
		WAITS,
		WAIT,
		END
	} kind;
	uint64_t time;	/* ns, monotonic */
	size_t subject; /* number of the subject to SAMPLE, or whose WAITS to take */
};

/* Makes this task the next one, unless the next one is due earlier. */
static void consider_task(struct task *task, int kind, uint64_t time, size_t subject)
{
	if (time <= task->time)
		*task = (struct task){.kind = kind, .time = time, .subject = subject};
}

/* Returns the task that is due first; of tasks due at one time, the task considered
 * last. */
static struct task next_task(const struct recorder *recorder, uint64_t end)
{
	struct task task = {.kind = CHECK, .time = recorder->check};
	size_t i = roster_first_due(&recorder->roster);
	size_t waiting = roster_first_waits(&recorder->roster);
	const struct host *host = recorder->roster.host;

	if (recorder->unwatched) {
		task = (struct task){.kind = WAIT, .time = clock_monotonic() + LATE_NS};
		consider_task(&task, END, end, 0);
		return task;
	}
	if (host->ops->paused_since(host))
		task.time -= CHECK_NS - LATE_NS;
	if (waiting != SIZE_MAX) {
		uint64_t due = waits_due(recorder->roster.subject[waiting]->waits);

		consider_task(&task, WAITS,
			      due > recorder->waits_rested ? due : recorder->waits_rested,
			      waiting);
	}
	if (i != SIZE_MAX) {
		uint64_t due = pacer_due(&recorder->roster.subject[i]->pacer);

		consider_task(&task, SAMPLE,
			      due > recorder->rested ? due : recorder->rested, i);
	}
	if (roster_is_waiting(&recorder->roster))
		consider_task(&task, FOLLOW, recorder->look, 0);
	consider_task(&task, END, end, 0);
	return task;
}

/* Does the tasks that are due, until there is a reason to end. */
static enum end_reason run_tasks(struct recorder *recorder, const sigset_t *signals,
				 uint64_t end, struct error *err)
{
	while (recorder->roster.subjects || recorder->options->follow) {
		struct task task = next_task(recorder, end);
		int number = signals_wait(&recorder->waited, signals, task.time);
		int status = 0;

		if (number) {
			enum end_reason reason = handle_signal(recorder, number, err);

			if (reason != END_UNKNOWN)
				return reason;
			continue;
		}
		if (clock_monotonic() >= end)
			return END_TIME;
		if (!is_watched(recorder) || task.kind == WAIT)
			continue;
		if (task.kind == SAMPLE)
			status = sample_subject(recorder, task.subject, err);
		else if (task.kind == WAITS)
			take_waits(recorder, task.subject);
		else if (task.kind == CHECK)
			status = check_subjects(recorder, err);
		else
			follow_domains(recorder);
		if (status < 0 || sink_failed(recorder->sink))
			return END_ERROR;
	}
	return END_GUEST;
}

/* Reads the events since the last rounds of guests with events. */
static void take_last(struct recorder *recorder)
{
	struct error ignored;

	for (size_t i = recorder->roster.subjects; i-- > 0;)
		if (recorder->roster.subject[i]->has_events)
			sample_subject(recorder, i, &ignored);
}

enum end_reason recorder_run(struct recorder *recorder, struct sink *sink,
			     const sigset_t *signals, uint64_t start, struct error *err)
{
	uint64_t until = recorder->roster.host->until;
	enum end_reason reason;

	recorder->sink = recorder->roster.sink = sink;
	recorder->end = clock_monotonic();
	if (roster_start_watch(&recorder->roster, err) < 0)
		return END_ERROR;
	roster_begin(&recorder->roster, start);
	recorder->look = start;
	recorder->check = start + CHECK_NS;
	share_rest(&recorder->share, start);
	reason = guard_alive(recorder->guard) ? END_UNKNOWN
					      : handle_signal(recorder, SIGCHLD, err);
	if (reason == END_UNKNOWN)
		reason = run_tasks(recorder, signals, until ? until : UINT64_MAX, err);
	if (reason == END_TIME || reason == END_SIGNAL)
		take_last(recorder);
	recorder->end = clock_monotonic();
	for (size_t i = 0; i < recorder->roster.subjects; i++)
		if (recorder->roster.subject[i]->waits)
			waits_end(recorder->roster.subject[i]->waits, sink, false);
	roster_drop_all(&recorder->roster);
	return reason;
}

uint64_t recorder_end(const struct recorder *recorder)
{
	return recorder->end;
}

const struct roster *recorder_roster(const struct recorder *recorder)
{
	return &recorder->roster;
}

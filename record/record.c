/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/record.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/version.h"
#include "record/domains/tables.h"
#include "record/file/meter.h"
#include "record/file/series.h"
#include "record/file/sink.h"
#include "record/recorder.h"
#include "record/safety/filter.h"
#include "record/safety/guard.h"
#include "record/safety/priority.h"
#include "record/safety/privileges.h"
#include "record/signals.h"

struct record {
	const struct record_options *options;
	struct host *host;
	struct domain_tables *tables;
	struct guard *guard;
	struct recorder *recorder;
	struct series series;
	struct meter meter;
	sigset_t signals;
	uint64_t begun; /* when the tables were made, ns, monotonic */
	uint64_t start; /* first deadline, ns, monotonic */
};

/* Writes the command line, with blanks between its words; truncated if it is too long. */
static void join_words(char *line, size_t size, int argc, char **argv)
{
	size_t used = (size_t)snprintf(line, size, "uniprof");

	for (int i = 0; i < argc && used < size; i++)
		used += (size_t)snprintf(line + used, size - used, " %s", argv[i]);
}

/* Returns the lowest version of the format that describes what is recorded. */
static uint64_t version_of(const struct record_options *options)
{
	if (options->unwinding.stack_bytes)
		return RECORDING_VERSION;
	return options->event.name[0] ? RECORDING_VERSION_LARGE_WEIGHTS
				      : RECORDING_VERSION_SMALL_WEIGHTS;
}

static void describe_recording(const struct record *record, int argc, char **argv,
			       struct recording_info *info)
{
	*info = (struct recording_info){
		.version = version_of(record->options),
		.domctl_version = record->host->domctl_version,
		.wall_start = clock_ns(CLOCK_REALTIME) - clock_monotonic() +
			      record->start,
		.monotonic_start = record->start,
		.frequency = record->options->frequency * 1000,
		.time_limit = record->options->time_limit,
		.tool = "uniprof " UNIPROF_VERSION,
	};
	gethostname(info->host, sizeof(info->host) - 1);
	join_words(info->command, sizeof(info->command), argc, argv);
	snprintf(info->hypervisor, sizeof(info->hypervisor), "%s", record->host->version);
	snprintf(info->event, sizeof(info->event), "%s", record->options->event.name);
}

static void summarize(const struct record *record, const struct recording_end *end,
		      struct record_summary *summary)
{
	const struct roster *roster = recorder_roster(record->recorder);

	*summary = (struct record_summary){
		.file = series_name(&record->series),
		.files = record->series.files,
		.bytes = series_bytes(&record->series),
		.duration = end->monotonic - record->start,
		.sampled = roster->time,
		.domains = roster->domains,
		.samples = end->samples,
		.weight = record->options->event.name[0] ? end->samples
							 : series_weight(&record->series),
		.unstopped = roster->unstopped,
		.lost = end->lost,
		.missed = end->missed,
		.unwound = roster->unwound,
		.waits = roster->waits,
	};
	series_pauses(&record->series, &summary->pauses);
}

/* Page faults must not extend a pause. The fork of the guard made every page
 * copy-on-write. */
static void settle_memory(void)
{
	mlockall(MCL_CURRENT);
	prctl(PR_SET_TIMERSLACK, 1);
}

/* Confines access to files; must be called before threads are started. Returns the
 * version of Landlock, or 0. */
static int confine_files(const struct record *record)
{
	const struct host_needs *host = record->host->ops->needs;
	const struct privileges needed = {
		.devices = record->options->follow ? host->devices : NULL,
		.removes = host->removes,
		.inspects = host->inspects,
	};

	return privileges_confine(&needed);
}

/* Notifies the user of the privileges that are left. @filter: why system calls are not
 * restricted; NULL: they are. */
static void notify_privileges(const struct record *record, unsigned int user,
			      const char *capabilities, int landlock,
			      const struct error *filter)
{
	const struct host_needs *host = record->host->ops->needs;
	char files[128] =
		"; access to files is not restricted (no Landlock in this kernel)";
	char calls[600] = ", only the system calls for sampling (seccomp)";

	if (host->inspects)
		snprintf(files, sizeof(files),
			 "; access to files is not restricted (Landlock would forbid to "
			 "trace processes)");
	else if (landlock)
		snprintf(files, sizeof(files),
			 ", no access to other files (Landlock version %d)", landlock);
	if (filter)
		snprintf(calls, sizeof(calls), "; system calls are not restricted (%s)",
			 filter->text);
	notify(record->options->notify, "privileges kept: %s and user ID %u; %s%s%s",
	       host->kept, user, capabilities, files, calls);
}

/* Drops the privileges for more than sampling and writing; must be called after the
 * threads have started. */
static void drop_privileges(const struct record *record, int landlock)
{
	const struct host_needs *host = record->host->ops->needs;
	const unsigned int user = geteuid();
	const char *capabilities = privileges_drop(host->inspects ? KEEP_INSPECTING
								  : KEEP_LOCKING);
	const struct opener *opener = &record->series.opener;
	struct error why;
	bool filtered = filter_recorder(host, record->options->follow,
					opener->child ? opener->socket : -1, &why) == 0;

	if (record->options->verbose)
		notify_privileges(record, user, capabilities, landlock,
				  filtered ? NULL : &why);
}

/* Writes the start of the recording. */
static int begin_series(struct record *record, int argc, char **argv, struct error *err)
{
	struct recording_info info;

	record->start = clock_monotonic();
	describe_recording(record, argc, argv, &info);
	return series_begin(&record->series, &info, err);
}

/* If the recording goes to a pipe, the terminal is left to the program that reads it. */
static void start_meter(struct record *record)
{
	uint64_t until = record->host->until;

	record->meter = (struct meter){
		.frequency = record->options->frequency,
		.start = record->start,
		.time_limit = until > record->start ? until - record->start : until,
		.counts_events = record->options->event.name[0],
	};
	meter_start(&record->meter, record->series.file.path ? STDERR_FILENO : -1);
}

/* Returns whether rounds were skipped. */
static bool has_skipped(const struct record *record)
{
	const struct roster *roster = recorder_roster(record->recorder);

	return roster->skipped || roster->late;
}

/* Returns whether there may be no samples for a reason that the user should know. */
static bool is_refused(const struct record *record, const struct recording_end *end)
{
	return !end->samples &&
	       (has_skipped(record) || (end->pauses && record->host->ops->why_outside));
}

/* Writes that the guest could not be sampled because it was paused all the time, and how
 * to resume it, or because its vCPUs did not stop, or were never in it. */
static int refuse_empty(const struct record *record, struct error *err)
{
	const char *command = record->host->ops->unpause_command;

	if (!has_skipped(record))
		return error_set(err, "no samples: no vCPU was in the guest: %s",
				 record->host->ops->why_outside);
	if (!recorder_roster(record->recorder)->skipped)
		return error_set(err, "no samples: no vCPU stopped in time: the host is "
				      "busy, or the VMM waits for a device");
	return error_set(err,
			 "no samples: someone else kept the guest paused all the "
			 "time%s%s%s",
			 command ? " (use " : "", command ? command : "",
			 command ? " to resume it)" : "");
}

/* Samples until there is a reason to end, and completes the recording. */
static int sample_domains(struct record *record, int argc, char **argv,
			  struct record_summary *summary, struct error *err)
{
	struct recording_end end = {0};
	struct error write_error;
	struct sink *sink;
	int status = 0, landlock;

	if (series_open(&record->series, err) < 0)
		return -1;
	signals_block(&record->signals);
	sink = sink_new(err);
	if (!sink)
		return -1;
	settle_memory();
	if (begin_series(record, argc, argv, err) < 0) {
		sink_free(sink);
		return -1;
	}
	start_meter(record);
	landlock = confine_files(record); /* after this, files can't be renamed */
	if (recorder_start(record->recorder, err) < 0 ||
	    sink_start(sink, &record->series, &record->meter, err) < 0) {
		meter_stop(&record->meter);
		sink_free(sink);
		return -1;
	}

	drop_privileges(record, landlock);
	end.reason = recorder_run(record->recorder, sink, &record->signals, record->start,
				  err);
	end.monotonic = recorder_end(record->recorder);
	priority_set(PRIORITY_USUAL);

	if (end.reason == END_ERROR)
		status = -1;
	if (sink_end(sink, &end, &record->signals, &write_error) < 0) {
		error_set(err, "%s: %s", series_name(&record->series), write_error.text);
		status = -1;
	}
	summarize(record, &end, summary);
	if (!status && is_refused(record, &end))
		status = refuse_empty(record, err);
	return status;
}

void record_share_arena(void)
{
#ifdef M_ARENA_MAX
	/* When glibc trims any arena of malloc() but the first, it reads
	 * /proc/sys/vm/overcommit_memory, which the filter of system calls refuses. */
	mallopt(M_ARENA_MAX, 1);
#endif
}

struct record *record_new(const struct record_options *options, struct error *err)
{
	struct record *record = calloc(1, sizeof(*record));
	struct error ignored;

	if (!record) {
		error_set(err, "out of memory");
		return NULL;
	}
	record->options = options;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* The process that creates files for a rotation does not share the tables, and
	 * the guard does not share their making. */
	if (series_init(&record->series, options->output, &options->rotation, err) == 0)
		record->tables = domain_tables_open(&options->unwinding, err);
	if (!record->tables) {
		record_free(record, &ignored);
		return NULL;
	}
	/* Among many busy vCPUs, finding the guests would take seconds. */
	priority_set(PRIORITY_SAMPLER);
	record->begun = clock_monotonic();
	return record;
}

/*
 * Prepares to sample the domains, which takes long if a guest has many vCPUs and the
 * host is busy: the time limit includes it, and signals that end a recording end it.
 */
static int open_domains(struct record *record, struct error *err)
{
	struct host *host = record->host;
	uint64_t limit = record->options->time_limit;
	sigset_t before;

	host->ends = signals_ends();
	host->until = limit ? record->begun + limit : 0;
	sigprocmask(SIG_BLOCK, &host->ends, &before);
	record->recorder = recorder_new(host, record->guard, record->options,
					record->tables, err);
	/* A signal that is pending stays blocked, as it would kill this process. */
	if (!host_is_over(host))
		sigprocmask(SIG_SETMASK, &before, NULL);
	else if (record->recorder)
		return error_set(err, "stopped before the first sample: nothing was "
				      "recorded");
	return record->recorder ? 0 : -1;
}

int record_run(struct record *record, struct host *host, int argc, char **argv,
	       struct record_summary *summary, struct error *err)
{
	record->host = host;
	record->guard = guard_start(host, record->options->notify, err);
	if (!record->guard || open_domains(record, err) < 0)
		return -1;
	return sample_domains(record, argc, argv, summary, err);
}

int record_free(struct record *record, struct error *err)
{
	int status;

	if (!record)
		return 0;
	recorder_free(record->recorder);
	guard_stop(record->guard);
	host_close(record->host);
	domain_tables_free(record->tables);
	status = series_close(&record->series, err);
	free(record);
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/version.h"
#include "base/command/message.h"
#include "record/file/meter.h"
#include "record/file/series.h"
#include "record/file/sink.h"
#include "commands/open.h"
#include "record/options.h"
#include "record/record.h"
#include "record/safety/priority.h"
#include "record/recorder.h"
#include "record/safety/filter.h"
#include "record/safety/guard.h"
#include "record/safety/left.h"
#include "record/safety/privileges.h"
#include "record/signals.h"

/* One run of the command. */
struct run {
	const struct record_options *options;
	struct host *host;
	struct unwinding *unwinding;
	struct guard *guard;
	struct recorder *recorder;
	struct series series;
	struct meter meter;
	sigset_t signals;
	uint64_t start; /* ns, monotonic: the first deadline */
};

/* Words are separated by blanks; a line that is too long is truncated. */
static void join_words(char *line, size_t size, int argc, char **argv)
{
	size_t used = (size_t)snprintf(line, size, "uniprof");

	for (int i = 0; i < argc && used < size; i++)
		used += (size_t)snprintf(line + used, size - used, " %s", argv[i]);
}

static void describe(const struct run *run, int argc, char **argv,
		     struct recording_info *info)
{
	*info = (struct recording_info){
		.version = run->options->unwinding.stack_bytes
				   ? RECORDING_VERSION
				   : RECORDING_VERSION_SMALL_WEIGHTS,
		.domctl_version = run->host->domctl_version,
		.wall_start = clock_ns(CLOCK_REALTIME) - clock_monotonic() + run->start,
		.monotonic_start = run->start,
		.frequency = run->options->frequency * 1000,
		.time_limit = run->options->time_limit,
		.tool = "uniprof " UNIPROF_VERSION,
	};
	gethostname(info->host, sizeof(info->host) - 1);
	join_words(info->command, sizeof(info->command), argc, argv);
	snprintf(info->hypervisor, sizeof(info->hypervisor), "%s", run->host->version);
}

/* The domain as named by the user, or the number of domains. */
static void name_domains(const struct run *run, char *text, size_t size)
{
	unsigned int domains = recorder_domains(run->recorder);

	if (run->options->domains == 1)
		snprintf(text, size, "'%s'", run->options->domain[0]);
	else
		snprintf(text, size, "%u domain%s", domains, domains == 1 ? "" : "s");
}

static void print_host(const struct host *host)
{
	if (host->domctl_version)
		message("record", "%s, domctl interface 0x%x", host->version,
			host->domctl_version);
	else
		message("record", "%s", host->version);
}

/*
 * The totals that reports will show: a sample also counts for those that were skipped to
 * limit the overhead.
 */
static void print_closing_line(const struct run *run, const struct recording_end *end)
{
	struct pauses pauses;
	double seconds = (double)(end->monotonic - run->start) / NS_PER_S;
	uint64_t weight = series_weight(&run->series);
	uint64_t time = recorder_time(run->recorder);
	char domains[512], taken[64] = "", unwound[512], files[64] = "";

	series_pauses(&run->series, &pauses);
	if (run->series.files > 1)
		snprintf(files, sizeof(files), "%" PRIu64 " files, the last is ",
			 run->series.files);
	unwound_text(recorder_unwound(run->recorder), unwound, sizeof(unwound));
	name_domains(run, domains, sizeof(domains));
	if (weight != end->samples)
		snprintf(taken, sizeof(taken), " (%" PRIu64 " taken)", end->samples);
	message("record",
		"%" PRIu64 " samples%s of %s in %.3f s, %" PRIu64
		" bytes in %s%s; lost %" PRIu64 ", missed %" PRIu64
		" deadlines; pause median %.1f us, p99 %.1f us, stopped %.2f %% of the "
		"time; unwound %s",
		weight, taken, domains, seconds, series_bytes(&run->series), files,
		series_name(&run->series), end->lost, end->missed,
		(double)pauses_quantile(&pauses, 0.5) / 1000,
		(double)pauses_quantile(&pauses, 0.99) / 1000,
		time ? (double)pauses.sum / (double)time * 100 : 0, unwound);
}

/* Page faults must not extend a pause. The fork of the guard made every page
 * copy-on-write. */
static void settle(void)
{
	mlockall(MCL_CURRENT);
	prctl(PR_SET_TIMERSLACK, 1);
}

/* Before threads are started. Returns the version of Landlock, or 0. */
static int confine(const struct run *run)
{
	const struct host_needs *host = run->host->ops->needs;
	const struct privileges needed = {
		.devices = run->options->follow ? host->devices : NULL,
		.removes = host->removes,
		.inspects = host->inspects,
	};

	return privileges_confine(&needed);
}

static void print_privileges(const struct host_needs *host, unsigned int user,
			     const char *capabilities, int landlock,
			     const struct error *filter)
{
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
	message("record", "privileges kept: %s and user ID %u; %s%s%s", host->kept, user,
		capabilities, files, calls);
}

/* After the threads have started. From here on, the process only samples and writes. */
static void drop_privileges(const struct run *run, int landlock)
{
	const struct host_needs *host = run->host->ops->needs;
	const unsigned int user = geteuid();
	const char *capabilities = privileges_drop(host->inspects ? KEEP_INSPECTING
								  : KEEP_LOCKING);
	const struct opener *opener = &run->series.opener;
	struct error why;
	bool filtered = filter_recorder(host, run->options->follow,
					opener->child ? opener->socket : -1, &why) == 0;

	if (run->options->verbose)
		print_privileges(host, user, capabilities, landlock,
				 filtered ? NULL : &why);
}

/* Writes the start of the recording. */
static int begin(struct run *run, int argc, char **argv, struct error *err)
{
	struct recording_info info;

	run->start = clock_monotonic();
	describe(run, argc, argv, &info);
	return series_begin(&run->series, &info, err);
}

/* If the recording goes to a pipe, the terminal is left to the program that reads it. */
static void start_meter(struct run *run)
{
	run->meter = (struct meter){
		.frequency = run->options->frequency,
		.start = run->start,
		.time_limit = run->options->time_limit,
	};
	meter_start(&run->meter, run->series.file.path ? STDERR_FILENO : -1);
}

static int record(struct run *run, int argc, char **argv, struct error *err)
{
	struct recording_end end = {0};
	struct error write_error;
	struct sink *sink;
	int status = 0, landlock;

	if (series_open(&run->series, err) < 0)
		return -1;
	signals_block(&run->signals);
	sink = sink_new(err);
	if (!sink)
		return -1;
	settle();
	if (begin(run, argc, argv, err) < 0) {
		sink_free(sink);
		return -1;
	}
	start_meter(run);
	landlock = confine(run); /* after this, files can't be renamed */
	if (recorder_start(run->recorder, err) < 0 ||
	    sink_start(sink, &run->series, &run->meter, err) < 0) {
		meter_stop(&run->meter);
		sink_free(sink);
		return -1;
	}

	priority_set(PRIORITY_SAMPLER);
	drop_privileges(run, landlock);
	end.reason = recorder_run(run->recorder, sink, &run->signals, run->start, err);
	end.monotonic = recorder_end(run->recorder);
	priority_set(PRIORITY_USUAL);

	if (end.reason == END_ERROR)
		status = -1;
	if (sink_end(sink, &end, &run->signals, &write_error) < 0) {
		error_set(err, "%s: %s", series_name(&run->series), write_error.text);
		status = -1;
	}
	print_closing_line(run, &end);
	if (!status && !end.samples && recorder_skipped(run->recorder))
		status = error_set(
			err, "no samples: someone else kept the guest paused all the "
			     "time (use xl unpause to resume it)");
	return status;
}

/* Tables are made before Xen is opened, so that the guard does not share their making.
 * The process that creates files for a rotation shares neither. */
static int record_all(struct run *run, int argc, char **argv)
{
	const struct record_options *options = run->options;
	const struct open_wish wish = {
		.gdb = options->gdb,
		/* To wait for a guest, KVM must be able to sample it. */
		.guest = options->domains == 1 && !options->follow ? options->domain[0]
								   : NULL,
		.force = options->force,
	};
	struct error err;
	int status = -1;

	if (series_init(&run->series, options->output, &options->rotation, &err) == 0)
		run->unwinding = unwinding_open(&options->unwinding, &err);
	run->host = run->unwinding ? open_host("record", &wish, &err) : NULL;
	if (run->host && options->verbose)
		print_host(run->host);
	if (run->host && left_report(run->host, options->unpause,
				     options->all ? NULL : options->domain,
				     options->domains, &err) == 0)
		run->guard = guard_start(run->host, &err);
	if (run->guard)
		run->recorder = recorder_new(run->host, run->guard, options,
					     run->unwinding, &err);
	if (run->recorder)
		status = record(run, argc, argv, &err);
	if (status < 0)
		message("record", "%s", err.text);
	recorder_free(run->recorder);
	guard_stop(run->guard);
	host_close(run->host);
	unwinding_free(run->unwinding);
	if (series_close(&run->series, &err) < 0 && !status) {
		message("record", "%s", err.text);
		status = -1;
	}
	return status < 0 ? EXIT_FAILED : EXIT_DONE;
}

/* To be called before the first thread is started, which is one that asks xenstore. */
static void share_arena(void)
{
#ifdef M_ARENA_MAX
	/* glibc reads /proc/sys/vm/overcommit_memory when it trims another arena of
	 * malloc() than the first; the filter of system calls refuses that. */
	mallopt(M_ARENA_MAX, 1);
#endif
}

int record_run(const struct record_options *options, int argc, char **argv)
{
	struct run run = {.options = options};

	share_arena();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return record_all(&run, argc, argv);
}

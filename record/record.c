/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/version.h"
#include "format/writer.h"
#include "record/commands.h"
#include "record/options.h"
#include "record/priority.h"
#include "record/privileges.h"
#include "record/recorder.h"
#include "record/signals.h"
#include "record/sink.h"

/* One run of the command. */
struct run {
	const struct record_options *options;
	struct xen *xen;
	struct recorder *recorder;
	struct writer *writer;
	int output;
	sigset_t signals;
	uint64_t start; /* ns, monotonic: the first deadline */
};

static bool to_stdout(const struct run *run)
{
	return strcmp(run->options->output, "-") == 0;
}

static const char *output_name(const struct run *run)
{
	return to_stdout(run) ? "standard output" : run->options->output;
}

/* As perf does, keeps an older recording under another name. What is behind a
 * symbolic link, which may be a device, is opened as it is. */
static int open_output(struct run *run, struct error *err)
{
	const char *path = run->options->output;
	struct stat was;
	char old[4096];

	if (to_stdout(run)) {
		run->output = STDOUT_FILENO;
		return 0;
	}
	if (lstat(path, &was) == 0 && S_ISREG(was.st_mode) && was.st_size > 0 &&
	    (size_t)snprintf(old, sizeof(old), "%s.old", path) < sizeof(old) &&
	    rename(path, old) < 0)
		return error_errno(err, errno, "can't rename %s to %s", path, old);
	run->output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (run->output < 0)
		return error_errno(err, errno, "can't write to %s", path);
	return 0;
}

/* Words are cut from one another by blanks, and the line where there is no room. */
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
		.version = RECORDING_VERSION,
		.domctl_version = xen_domctl_version(run->xen),
		.wall_start = clock_ns(CLOCK_REALTIME) - clock_monotonic() + run->start,
		.monotonic_start = run->start,
		.frequency = run->options->frequency * 1000,
		.time_limit = run->options->time_limit,
		.tool = "uniprof " UNIPROF_VERSION,
	};
	gethostname(info->host, sizeof(info->host) - 1);
	join_words(info->command, sizeof(info->command), argc, argv);
	snprintf(info->hypervisor, sizeof(info->hypervisor), "%s", xen_version(run->xen));
}

/* The domain by the name that the user gave, or how many there were. */
static void name_domains(const struct run *run, char *text, size_t size)
{
	if (run->options->domains == 1)
		snprintf(text, size, "'%s'", run->options->domain[0]);
	else
		snprintf(text, size, "%u domains", recorder_domains(run->recorder));
}

/*
 * What was recorded, in the numbers that reports will have: a sample counts for
 * those that were left out to keep the overhead low.
 */
static void print_closing_line(const struct run *run, const struct recording_end *end)
{
	const struct pauses *pauses = writer_pauses(run->writer);
	double seconds = (double)(end->monotonic - run->start) / NS_PER_S;
	uint64_t weight = writer_weight(run->writer);
	uint64_t time = recorder_time(run->recorder);
	char domains[512], taken[64] = "";

	name_domains(run, domains, sizeof(domains));
	if (weight != end->samples)
		snprintf(taken, sizeof(taken), " (%" PRIu64 " taken)", end->samples);
	fprintf(stderr,
		"uniprof record: %" PRIu64 " samples%s of %s in %.3f s, %" PRIu64
		" bytes in %s; lost %" PRIu64 ", missed %" PRIu64
		" deadlines; pause median %.1f us, p99 %.1f us, stopped %.2f %% of the "
		"time\n",
		weight, taken, domains, seconds, writer_bytes(run->writer),
		output_name(run), end->lost, end->missed,
		(double)pauses_quantile(pauses, 0.5) / 1000,
		(double)pauses_quantile(pauses, 0.99) / 1000,
		time ? (double)pauses->sum / (double)time * 100 : 0);
}

/* From here on, the process does nothing but sample and write. */
static void settle(const struct run *run)
{
	bool confined;

	/* No page fault shall prolong a pause. Each guard, having been forked off, made
	 * every page one that is copied when it is written to. */
	mlockall(MCL_CURRENT);
	prctl(PR_SET_TIMERSLACK, 1);
	confined = privileges_confine();
	if (run->options->verbose)
		fprintf(stderr,
			"uniprof record: keeps the interface to Xen, to pause guests and "
			"read their memory, and the user %u, to whom it belongs; no "
			"capabilities%s\n",
			geteuid(),
			confined ? ", and no files but these"
				 : "; the kernel has no Landlock to keep files away");
}

static int record(struct run *run, int argc, char **argv, struct error *err)
{
	struct recording_info info;
	struct recording_end end = {0};
	struct error write_error;
	struct sink *sink;
	int status = 0;

	if (open_output(run, err) < 0)
		return -1;
	signals_block(&run->signals);
	sink = sink_new(err);
	if (!sink)
		return -1;
	settle(run);
	run->start = clock_monotonic();
	describe(run, argc, argv, &info);
	run->writer = writer_new(run->output, &info, NULL, 0, &write_error);
	if (!run->writer) {
		sink_free(sink);
		return error_set(err, "%s: %s", output_name(run), write_error.text);
	}
	if (sink_start(sink, run->writer, err) < 0) {
		sink_free(sink);
		return -1;
	}

	priority_set(PRIORITY_SAMPLER);
	privileges_drop();
	end.reason = recorder_run(run->recorder, sink, &run->signals, run->start, err);
	end.monotonic = recorder_end(run->recorder);
	priority_set(PRIORITY_USUAL);

	if (end.reason == END_ERROR)
		status = -1;
	if (sink_end(sink, &end, &run->signals, &write_error) < 0) {
		error_set(err, "%s: %s", output_name(run), write_error.text);
		status = -1;
	}
	print_closing_line(run, &end);
	return status;
}

int command_record(int argc, char **argv)
{
	struct record_options options;
	struct run run = {.options = &options};
	struct error err;
	int status;

	if (!record_options_read(argc, argv, &options, &status))
		return status;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);

	status = -1;
	run.xen = xen_open(&err);
	if (run.xen && options.verbose)
		fprintf(stderr, "uniprof record: %s, domctl interface 0x%x\n",
			xen_version(run.xen), xen_domctl_version(run.xen));
	if (run.xen)
		run.recorder = recorder_new(run.xen, &options, &err);
	if (run.recorder)
		status = record(&run, argc, argv, &err);
	if (status < 0)
		fprintf(stderr, "uniprof record: %s\n", err.text);
	recorder_free(run.recorder);
	xen_close(run.xen);
	writer_free(run.writer);
	if (run.output > STDOUT_FILENO && close(run.output) < 0 && !status) {
		fprintf(stderr, "uniprof record: can't write to %s: %s\n", options.output,
			strerror(errno));
		status = -1;
	}
	return status < 0 ? EXIT_FAILED : EXIT_DONE;
}

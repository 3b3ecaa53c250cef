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
#include "base/parse.h"
#include "base/version.h"
#include "format/writer.h"
#include "record/commands.h"
#include "record/guard.h"
#include "record/options.h"
#include "record/pacer.h"
#include "record/priority.h"
#include "record/sampler.h"
#include "record/sink.h"

struct recorder {
	const struct record_options *options;
	struct xen *xen;
	struct xen_domain domain;
	struct capture *capture;
	struct pages *pages;
	struct guard *guard;
	struct sampler *sampler;
	struct writer *writer;
	struct sink *sink;
	int output;
	sigset_t signals; /* what wait_until() waits for */
	struct pacer pacer;
	uint64_t start;	  /* ns, monotonic: the first deadline */
	uint64_t rounds;  /* taken or skipped */
	uint64_t skipped; /* as someone else held the domain paused */
	uint64_t thinned; /* left out to keep the overhead low */
};

/* Finds the domain and gets all that is needed to sample it; pauses nothing. */
static int prepare(struct recorder *recorder, struct error *err)
{
	const struct record_options *options = recorder->options;
	bool *wanted = NULL;
	int status = -1;

	recorder->xen = xen_open(err);
	if (!recorder->xen ||
	    xen_domain_find(recorder->xen, options->domain, &recorder->domain, err) < 0 ||
	    xen_domain_check(recorder->xen, &recorder->domain, err) < 0)
		return -1;
	if (options->vcpus) {
		wanted = calloc(recorder->domain.vcpus, sizeof(*wanted));
		if (!wanted)
			return error_set(err, "not enough memory");
		if (parse_list(options->vcpus, wanted, recorder->domain.vcpus) < 0) {
			error_set(err,
				  "'%s' is no list of vCPUs of domain '%s', which "
				  "has 0 to %u",
				  options->vcpus, options->domain,
				  recorder->domain.vcpus - 1);
			goto out;
		}
	}
	recorder->capture = capture_new(recorder->xen, &recorder->domain, wanted, err);
	if (!recorder->capture)
		goto out;
	recorder->guard = guard_start(recorder->capture, err);
	if (!recorder->guard)
		goto out;
	recorder->pages = pages_new(recorder->xen, recorder->domain.id, err);
	if (!recorder->pages)
		goto out;
	recorder->sampler = sampler_new(recorder->capture, recorder->pages, err);
	if (recorder->sampler)
		status = 0;
out:
	free(wanted);
	return status;
}

static bool to_stdout(const struct recorder *recorder)
{
	return strcmp(recorder->options->output, "-") == 0;
}

static const char *output_name(const struct recorder *recorder)
{
	return to_stdout(recorder) ? "standard output" : recorder->options->output;
}

/* As perf does, keeps an older recording under another name. What is behind a
 * symbolic link, which may be a device, is opened as it is. */
static int open_output(struct recorder *recorder, struct error *err)
{
	const char *path = recorder->options->output;
	struct stat was;
	char old[4096];

	if (to_stdout(recorder)) {
		recorder->output = STDOUT_FILENO;
		return 0;
	}
	if (lstat(path, &was) == 0 && S_ISREG(was.st_mode) && was.st_size > 0 &&
	    (size_t)snprintf(old, sizeof(old), "%s.old", path) < sizeof(old) &&
	    rename(path, old) < 0)
		return error_errno(err, errno, "can't rename %s to %s", path, old);
	recorder->output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (recorder->output < 0)
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

static void describe(const struct recorder *recorder, int argc, char **argv,
		     struct recording_info *info, struct recording_domain *domain)
{
	const struct capture_vcpu *vcpu = NULL;

	*info = (struct recording_info){
		.version = RECORDING_VERSION,
		.domctl_version = xen_domctl_version(recorder->xen),
		.wall_start = clock_ns(CLOCK_REALTIME) - clock_monotonic() +
			      recorder->start,
		.monotonic_start = recorder->start,
		.frequency = recorder->options->frequency * 1000,
		.time_limit = recorder->options->time_limit,
		.tool = "uniprof " UNIPROF_VERSION,
	};
	gethostname(info->host, sizeof(info->host) - 1);
	join_words(info->command, sizeof(info->command), argc, argv);
	snprintf(info->hypervisor, sizeof(info->hypervisor), "%s",
		 xen_version(recorder->xen));
	*domain = (struct recording_domain){
		.id = recorder->domain.id,
		.type = recorder->domain.type,
		.cpu = recorder->domain.type == GUEST_PV ? CPU_X86_64 : CPU_UNKNOWN,
		.vcpus = recorder->domain.vcpus,
	};
	for (unsigned int i = 0; i < recorder->domain.vcpus; i++) {
		vcpu = capture_vcpu(recorder->capture, i);
		if (vcpu->captured) {
			domain->cpu = x86_kind(&vcpu->cpu);
			break;
		}
	}
	domain->word = domain->cpu == CPU_X86_32 ? 4 : 8;
	snprintf(domain->name, sizeof(domain->name), "%s", recorder->domain.name);
	memcpy(domain->uuid, recorder->domain.uuid, sizeof(domain->uuid));
}

/* Waits until @time (ns, monotonic), or for a signal: its number then, else 0. */
static int wait_until(const struct recorder *recorder, uint64_t time)
{
	for (;;) {
		uint64_t now = clock_monotonic();
		uint64_t left = time > now ? time - now : 0;
		struct timespec timeout = {(time_t)(left / NS_PER_S),
					   (long)(left % NS_PER_S)};
		int number = sigtimedwait(&recorder->signals, NULL, &timeout);

		if (number > 0)
			return number;
		if (errno == EAGAIN)
			return 0;
	}
}

/* Takes a round that is due, and hands it to the writer. */
static int take_round(struct recorder *recorder, struct round *round, struct error *err)
{
	uint64_t now = clock_monotonic(), missed, paused = 0;
	uint32_t weight = pacer_begin(&recorder->pacer, now, &missed);

	if (sampler_round(recorder->sampler, weight, round, err) < 0)
		return -1;
	for (unsigned int i = 0; i < round->pauses; i++)
		paused += round->pause[i];
	pacer_end(&recorder->pacer, now, clock_monotonic(), paused);
	recorder->rounds++;
	recorder->thinned += weight - 1;
	recorder->skipped += round->outcome == ROUND_PAUSED;
	if (recorder->sink)
		sink_round(recorder->sink, round, missed);
	return 0;
}

/* Samples until something ends it: what, is the result; *@err for END_ERROR. */
static enum end_reason sample(struct recorder *recorder, struct error *err)
{
	uint64_t limit = recorder->options->time_limit;
	uint64_t end = limit ? recorder->start + limit : UINT64_MAX;
	struct round round;

	for (;;) {
		uint64_t due = pacer_due(&recorder->pacer);
		int number = wait_until(recorder, due < end ? due : end);

		if (number == SIGCHLD && !guard_alive(recorder->guard)) {
			error_set(err, "the process that guards the guest was killed; "
				       "not sampling without it");
			return END_ERROR;
		}
		if (number == SIGTSTP)
			raise(SIGSTOP); /* here, where nothing is paused */
		if (number == SIGTSTP || number == SIGCHLD)
			continue;
		if (number)
			return END_SIGNAL;
		if (due >= end || clock_monotonic() >= end)
			return END_TIME;
		if (take_round(recorder, &round, err) < 0)
			return END_ERROR;
		if (round.outcome == ROUND_SHUT || round.outcome == ROUND_GONE)
			return END_GUEST;
		if (sink_failed(recorder->sink))
			return END_ERROR;
	}
}

/*
 * What was recorded, in the numbers that reports will have: a sample counts for
 * those that were left out to keep the overhead low.
 */
static void print_closing_line(const struct recorder *recorder,
			       const struct recording_end *end)
{
	const struct pauses *pauses = writer_pauses(recorder->writer);
	double seconds = (double)(end->monotonic - recorder->start) / NS_PER_S;
	uint64_t weight = writer_weight(recorder->writer);
	char taken[64] = "";

	if (weight != end->samples)
		snprintf(taken, sizeof(taken), " (%" PRIu64 " taken)", end->samples);
	fprintf(stderr,
		"uniprof record: %" PRIu64 " samples%s of '%s' in %.3f s, %" PRIu64
		" bytes in %s; lost %" PRIu64 ", missed %" PRIu64
		" deadlines; pause median %.1f us, p99 %.1f us, stopped %.2f %% of the "
		"time\n",
		weight, taken, recorder->options->domain, seconds,
		writer_bytes(recorder->writer), output_name(recorder), end->lost,
		end->missed, (double)pauses_quantile(pauses, 0.5) / 1000,
		(double)pauses_quantile(pauses, 0.99) / 1000,
		seconds > 0 ? (double)pauses->sum / NS_PER_S / seconds * 100 : 0);
}

/* What is worth a line of its own. */
static void print_notes(const struct recorder *recorder, const struct recording_end *end)
{
	double seconds = (double)(end->monotonic - recorder->start) / NS_PER_S;

	if (end->reason == END_GUEST)
		fprintf(stderr, "uniprof record: '%s' has ended\n",
			recorder->options->domain);
	if (recorder->thinned)
		fprintf(stderr,
			"uniprof record: the rate was lowered to %.1f Hz on average, as "
			"pauses may take %g %% of the time (--max-overhead)\n",
			(double)recorder->rounds / seconds,
			recorder->options->max_overhead * 100);
	if (recorder->skipped)
		fprintf(stderr,
			"uniprof record: %" PRIu64
			" rounds were skipped, as someone else "
			"had paused '%s'\n",
			recorder->skipped, recorder->options->domain);
}

/* From the first round, which tells what is to be described, to the last. */
static int record(struct recorder *recorder, int argc, char **argv, struct error *err)
{
	struct recording_info info;
	struct recording_domain domain;
	struct recording_end end = {0};
	const struct pace pace = {
		.frequency = recorder->options->frequency,
		.max_overhead = recorder->options->max_overhead,
		.jitter = recorder->options->jitter,
	};
	struct error write_error;
	struct round round;
	int status = 0, stopped;

	/* No page fault shall prolong a pause; the priority is for the same. The guard,
	 * having been forked off, made each page one that is copied when written to. */
	mlockall(MCL_CURRENT);
	prctl(PR_SET_TIMERSLACK, 1);
	priority_set(PRIORITY_SAMPLER);
	recorder->start = clock_monotonic();
	pacer_start(&recorder->pacer, &pace, recorder->start, recorder->start);
	if (take_round(recorder, &round, err) < 0)
		return -1;
	if (round.outcome == ROUND_SHUT || round.outcome == ROUND_GONE)
		return error_set(err, "domain '%s' %s", recorder->options->domain,
				 round.outcome == ROUND_SHUT
					 ? "does not run: it is shut down or suspended"
					 : "has ended");
	describe(recorder, argc, argv, &info, &domain);
	if (open_output(recorder, err) < 0)
		return -1;
	recorder->writer = writer_new(recorder->output, &info, &domain, 1, &write_error);
	if (!recorder->writer)
		return error_set(err, "%s: %s", output_name(recorder), write_error.text);
	recorder->sink = sink_start(recorder->writer, recorder->domain.vcpus, err);
	if (!recorder->sink)
		return -1;
	sink_round(recorder->sink, &round, 0);

	mlockall(MCL_CURRENT); /* what has come since then */
	end.reason = sample(recorder, err);
	end.monotonic = clock_monotonic();
	priority_set(PRIORITY_USUAL);

	if (end.reason == END_ERROR)
		status = -1;
	stopped = sink_stop(recorder->sink, &write_error);
	if (writer_end(recorder->writer, &end, &write_error) < 0 || stopped < 0) {
		error_set(err, "%s: %s", output_name(recorder), write_error.text);
		status = -1;
	}
	print_notes(recorder, &end);
	print_closing_line(recorder, &end);
	return status;
}

static void release(struct recorder *recorder)
{
	sampler_free(recorder->sampler);
	pages_free(recorder->pages);
	guard_stop(recorder->guard);
	capture_free(recorder->capture);
	xen_close(recorder->xen);
	writer_free(recorder->writer);
}

/*
 * Before any thread or child is there, so that all of them have it. What the
 * parent process chose to be ignored stays so, as nohup does with SIGHUP; a
 * shell's SIGINT of a background job does not, and news of the guard are needed.
 */
static void block_signals(sigset_t *signals)
{
	struct sigaction was;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGTSTP);
	sigaddset(signals, SIGCHLD);
	if (sigaction(SIGHUP, NULL, &was) < 0 || was.sa_handler != SIG_IGN)
		sigaddset(signals, SIGHUP);
	sigprocmask(SIG_BLOCK, signals, NULL);
}

int command_record(int argc, char **argv)
{
	struct record_options options;
	struct recorder recorder = {.options = &options};
	struct error err;
	int status;

	if (!record_options_read(argc, argv, &options, &status))
		return status;
	block_signals(&recorder.signals);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);

	status = prepare(&recorder, &err);
	if (status == 0 && options.verbose)
		fprintf(stderr,
			"uniprof record: %s, domctl interface 0x%x; domain %u '%s', %s, "
			"%u of %u vCPUs online\n",
			xen_version(recorder.xen), xen_domctl_version(recorder.xen),
			recorder.domain.id, recorder.domain.name,
			guest_type_name(recorder.domain.type), recorder.domain.online,
			recorder.domain.vcpus);
	if (status == 0)
		status = record(&recorder, argc, argv, &err);
	if (status < 0)
		fprintf(stderr, "uniprof record: %s\n", err.text);
	release(&recorder);
	if (recorder.output > STDOUT_FILENO && close(recorder.output) < 0 && !status) {
		fprintf(stderr, "uniprof record: can't write to %s: %s\n", options.output,
			strerror(errno));
		status = -1;
	}
	return status < 0 ? EXIT_FAILED : EXIT_DONE;
}

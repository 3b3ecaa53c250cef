/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/commands.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/command/message.h"
#include "commands/open.h"
#include "commands/namer.h"
#include "commands/record_options.h"
#include "record/record.h"
#include "record/signals.h"

/* Appends to @to, which has @used characters; returns its new length, below @size. */
static size_t __attribute__((format(printf, 4, 5)))
append_text(char *to, size_t used, size_t size, const char *format, ...)
{
	va_list arguments;
	int more;

	va_start(arguments, format);
	more = vsnprintf(to + used, size - used, format, arguments);
	va_end(arguments);
	if (more < 0)
		return used;
	return (size_t)more < size - used ? used + (size_t)more : size - 1;
}

/* Writes "by frame pointers", "in reports", "by tables of web.elf (12345 rows)", or "by
 * code in memory (12345 rows) after the first 33 samples". */
static void describe_unwinding(const struct unwound *unwound, char *to, size_t size)
{
	unsigned int others = unwound->by_frames;
	size_t used = 0;

	*to = 0;
	if (unwound->by_table)
		used = append_text(to, used, size, "by tables of %s (%" PRIu64 " rows)",
				   unwound->names, unwound->rows);
	if (unwound->by_code)
		used = append_text(to, used, size,
				   "%sby code in memory (%" PRIu64 " rows)",
				   used ? ", " : "", unwound->code_rows);
	if (unwound->early)
		used = append_text(to, used, size,
				   " after the first %" PRIu64 " sample%s",
				   unwound->early, unwound->early == 1 ? "" : "s");
	if (unwound->captured)
		append_text(to, used, size, "in reports, by the captured stacks");
	else if (!used)
		append_text(to, used, size, "by frame pointers");
	else if (others)
		append_text(to, used, size, ", %u of %u domains by frame pointers",
			    others, unwound->domains);
}

/* Writes what was recorded of waits, or why nothing was; empty if nothing was wanted. */
static void describe_waits(const struct record_options *options,
			   const struct waits_totals *waits, char *to, size_t size)
{
	size_t used;

	*to = 0;
	if (!options->waits)
		return;
	if (!waits->rounds) {
		append_text(
			to, 0, size,
			"; no waits: it is not known where the guest has its threads, "
			"as it is in a Linux kernel with types (BTF), and in "
			"files of Unikraft and Mini-OS with symbols");
		return;
	}
	used = append_text(
		to, 0, size, "; waits of %" PRIu64 " threads in %" PRIu64 " rounds%s",
		waits->threads, waits->rounds,
		waits->is_broken ? " (not all: too many, or damaged lists)" : "");
	if (waits->skipped)
		used = append_text(to, used, size,
				   " (%" PRIu64 " left out for their CPU "
				   "time, --waits-max-cpu)",
				   waits->skipped);
	append_text(to, used, size,
		    ", %" PRIu64 " chains, %" PRIu64 " torn and %" PRIu64
		    " unread, by %.2f %% of a CPU",
		    waits->read, waits->torn, waits->unread,
		    waits->time ? (double)waits->cpu_time / (double)waits->time * 100
				: 0);
}

/* Writes the domain as named by the user, or the number of domains. */
static void describe_domains(const struct record_options *options, unsigned int domains,
			     char *to, size_t size)
{
	if (options->domains == 1)
		snprintf(to, size, "'%s'", options->domain[0]);
	else
		snprintf(to, size, "%u domain%s", domains, domains == 1 ? "" : "s");
}

/* Prints what was recorded. The number of samples is the total that reports show: a
 * sample also stands for samples that were skipped to limit the overhead. */
static void print_closing_line(const struct record_options *options,
			       const struct record_summary *summary)
{
	const struct pauses *pauses = &summary->pauses;
	double stopped = 0; /* percent */
	char domains[512], taken[64] = "", unwound[512], files[64] = "", waits[512];
	char unstopped[64] = "";

	if (summary->files > 1)
		snprintf(files, sizeof(files), "%" PRIu64 " files, the last is ",
			 summary->files);
	describe_unwinding(&summary->unwound, unwound, sizeof(unwound));
	describe_waits(options, &summary->waits, waits, sizeof(waits));
	describe_domains(options, summary->domains, domains, sizeof(domains));
	if (summary->weight != summary->samples)
		snprintf(taken, sizeof(taken), " (%" PRIu64 " taken)", summary->samples);
	if (summary->unstopped)
		snprintf(unstopped, sizeof(unstopped),
			 "%" PRIu64 " samples without a stop, ", summary->unstopped);
	if (summary->sampled)
		stopped = (double)pauses->sum / (double)summary->sampled * 100;
	message("record",
		"%" PRIu64 " samples%s of %s in %.3f s, %" PRIu64
		" bytes in %s%s; lost %" PRIu64 ", missed %" PRIu64
		" deadlines; %spause median %.1f us, p99 %.1f us, stopped %.2f %% of the "
		"time; unwound %s%s",
		summary->weight, taken, domains, (double)summary->duration / NS_PER_S,
		summary->bytes, files, summary->file, summary->lost, summary->missed,
		unstopped, (double)pauses_quantile(pauses, 0.5) / 1000,
		(double)pauses_quantile(pauses, 0.99) / 1000, stopped, unwound, waits);
}

static void print_host(const struct host *host)
{
	if (host->domctl_version)
		message("record", "%s, domctl interface 0x%x", host->version,
			host->domctl_version);
	else
		message("record", "%s", host->version);
}

/* Whether the user has named the guest, or all guests. */
static bool is_named(const struct record_options *options, const struct guest_info *guest)
{
	for (size_t i = 0; i < options->domains; i++)
		if (guest_info_matches(guest, options->domain[i]))
			return true;
	return options->all;
}

/* Ends the pause of a guest, and says so: 0, or -1 with the reason in @err. */
static int unpause_guest(struct host *host, const struct guest_info *guest,
			 const char *name, struct error *err)
{
	int status = host->ops->unpause_left(host, guest, err);

	if (status == 0)
		message("record", "ended the pause of '%s' left by a killed recorder",
			name);
	return status < 0 ? -1 : 0;
}

/*
 * Takes care of guests that were left paused because a recorder and its guard were killed
 * at once: with --unpause, ends that pause of the guests to sample; prints how to resume
 * the others. Must be called before the guard is started. 0, or -1 with the reason in
 * @err.
 */
static int handle_left_guests(struct host *host, const struct record_options *options,
			      struct error *err)
{
	struct guest_info *guests;
	size_t count, ended = 0;
	int status = 0;

	if (!host->ops->find_left)
		return 0;
	if (host->ops->find_left(host, &guests, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count && status == 0; i++) {
		const struct guest_info *guest = &guests[i];
		char id[16];
		const char *name = guest->name[0] ? guest->name : id;

		snprintf(id, sizeof(id), "%" PRIu32, guest->id);
		if (options->unpause && is_named(options, guest)) {
			status = unpause_guest(host, guest, name, err);
			ended++;
			continue;
		}
		message("record",
			"'%s' is paused: a recorder was killed together with its guard; "
			"resume it with '%s %s' or 'uniprof record --unpause %s'",
			name, host->ops->unpause_command, name, name);
	}
	if (options->unpause && !ended && status == 0)
		message("record", "nothing to unpause: no killed recorder left these "
				  "guests paused");
	free(guests);
	return status;
}

/* Opens the host, and takes care of guests that a killed recorder left paused. */
static struct host *open_for(const struct record_options *options, struct error *err)
{
	const struct open_wish wish = {
		.gdb = options->gdb,
		/* To wait for a guest, KVM must be able to sample it. */
		.guest = options->domains == 1 && !options->follow ? options->domain[0]
								   : NULL,
		.force = options->force,
	};
	struct host *host = open_host("record", &wish, err);

	if (!host)
		return NULL;
	if (options->verbose)
		print_host(host);
	if (handle_left_guests(host, options, err) == 0)
		return host;
	host_close(host);
	return NULL;
}

static int record_domains(const struct record_options *options, int argc, char **argv)
{
	struct record_summary summary = {.file = NULL};
	struct error err;
	struct record *record = record_new(options, &err);
	struct host *host = record ? open_for(options, &err) : NULL;
	int status = host ? record_run(record, host, argc, argv, &summary, &err) : -1;

	if (summary.file && !options->quiet)
		print_closing_line(options, &summary);
	if (status < 0)
		message("record", "%s", err.text);
	if (record_free(record, &err) < 0 && status == 0) {
		message("record", "%s", err.text);
		status = -1;
	}
	return status < 0 ? EXIT_FAILED : EXIT_DONE;
}

/* Looks for files of the guests, if none are given and some are of use. Whether that is
 * so for guests that start later, too. */
static bool find_for(const struct record_options *options, struct found_files *found)
{
	const struct unwinding_options *unwinding = &options->unwinding;
	const struct find_wish wish = {
		.domain = options->domain,
		.domains = options->domains,
		.all = options->all,
		.by_id = options->all || options->follow,
		.notify = options->verbose ? options->notify : NULL,
	};

	*found = (struct found_files){0};
	if (unwinding->no_find || unwinding->elfs || unwinding->tables || options->gdb ||
	    unwinding->call_graph != CALL_GRAPH_AUTO)
		return false;
	find_files(found, &wish);
	return true;
}

/* Records, with the files that are found, and stores the names in the recording. */
static int record_with_names(struct record_options *options, int argc, char **argv)
{
	struct found_files found;
	struct namer namer;
	struct error err;
	bool finds;
	int code;

	record_share_arena();
	finds = find_for(options, &found) && options->follow;
	options->unwinding.found = &found;
	if (namer_start(&namer, options, &found, finds, &err) < 0) {
		message("record", "%s", err.text);
		found_files_free(&found);
		return EXIT_FAILED;
	}
	found_files_drop_symbols(&found);
	options->unwinding.finder = &namer.finder;
	code = record_domains(options, argc, argv);
	if (namer_end(&namer, code == EXIT_DONE) < 0)
		code = EXIT_FAILED;
	found_files_free(&found);
	return code;
}

static int record_command(const struct command *command, int argc, char **argv)
{
	const sigset_t ends = signals_ends();
	struct record_options options;
	int status;

	signals_set(&ends, SIG_DFL);
	status = record_options_read(command, argc, argv, &options);
	if (status == COMMAND_GO_ON)
		status = record_with_names(&options, argc, argv);
	record_options_free(&options);
	return status;
}

const struct command command_record = {
	.name = "record",
	.arguments = "DOMAIN...",
	.most = COMMAND_ANY,
	.summary = "sample running domains into a file",
	.about = "Samples the call stacks of running Xen domains or KVM guests, given by "
		 "name or id, into a file, until the time limit is reached, Ctrl-C is "
		 "pressed, or the "
		 "last guest ends. Killing the recorder does not leave a guest paused, "
		 "unless, on Xen, its guard process is killed at the same moment; use "
		 "--unpause or 'xl unpause NAME' then.",
	.groups = record_option_groups,
	.run = record_command,
};

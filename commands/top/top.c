/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/top.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/command/message.h"
#include "base/command/usage.h"
#include "base/text.h"
#include "commands/commands.h"
#include "commands/top/screen.h"
#include "record/safety/privileges.h"

/* How long a recorder may take to write its end. */
#define PATIENCE_NS (10 * NS_PER_S)

int top_descriptor(const struct top *top)
{
	return top->input.start >= 0 || !top->recent.more ? -1 : top->input.fd;
}

/* Reads until @deadline (ns, monotonic), or until nothing more can follow. */
static int read_until(struct top *top, uint64_t deadline, struct error *err)
{
	for (;;) {
		struct pollfd fd = {top_descriptor(top), POLLIN, 0};
		uint64_t now = clock_monotonic(), left = deadline - now;

		if (recent_more(&top->recent, err) < 0)
			return -1;
		if (!top->recent.more || now >= deadline)
			return 0;
		if (fd.fd < 0 && left > TOP_LOOK_NS)
			left = TOP_LOOK_NS;
		poll(&fd, 1, (int)(left / 1000000) + 1);
	}
}

/* There is no table yet: says once what is waited for, unless the recorder does. -1 with
 * @err set if nothing has come since the last call, and nobody is there to write it. */
static int wait_for_start(const struct top *top, off_t *size, struct error *err)
{
	struct stat file;

	if (!top->options.input)
		return 0;
	if (*size < 0)
		message("top", "waiting for the start of %s", top->input.name);
	if (fstat(top->input.fd, &file) < 0)
		return error_errno(err, errno, "can't read %s", top->input.name);
	if (file.st_size == *size && !recent_is_written(&top->recent))
		return error_set(err,
				 "%s is not a recording yet, and no process has it "
				 "open for writing",
				 top->input.name);
	*size = file.st_size;
	return 0;
}

/* Prints the tables, each after a delay; the last one at once if the recording has ended.
 */
static int print_tables(struct top *top, struct error *err)
{
	const struct recent *recent = &top->recent;
	uint64_t next = clock_monotonic(), columns = text_columns(stdout);
	uint64_t printed = 0;
	off_t size = -1;

	privileges_keep_files();
	top->view.report.columns = columns == SIZE_MAX ? 0 : columns;
	while (printed < top->options.tables && recent->more) {
		next += top->options.delay;
		if (read_until(top, next, err) < 0)
			return -1;
		if (!recent_is_ready(recent)) {
			if (wait_for_start(top, &size, err) < 0)
				return -1;
			continue;
		}
		if (printed++)
			putchar('\n');
		if (view_write(&top->view, recent->path, stdout, err) < 0)
			return -1;
		if (fflush(stdout) != 0)
			return error_set(err, "can't write to standard output");
	}
	return 0;
}

/* Opens the source of samples. */
static int open_input(struct top *top, struct error *err)
{
	struct top_options *options = &top->options;
	char **words;
	int argc, status;

	if (options->input) {
		signal(SIGIO, SIG_IGN); /* recent_is_written() */
		return input_open(&top->input, options->input, err);
	}
	words = top_options_record(options, &argc);
	if (!words)
		return error_set(err, "out of memory");
	status = live_start(&top->live, argc, words, err);
	free(words);
	top->input = (struct input){
		.name = "the samples", .fd = top->live.pipe, .start = -1};
	return status;
}

/* Lets the recorder write its end, which is shown, too. */
static void end_live(struct top *top)
{
	struct error err;

	if (!top->live.recorder)
		return;
	live_end(&top->live);
	read_until(top, clock_monotonic() + PATIENCE_NS, &err);
	live_stop(&top->live);
}

/* Notes on the last table, and what could not be read. */
static int say_notes(struct top *top)
{
	const struct summary *summary = &top->recent.summary;
	struct profile *profile = &top->view.profile;
	struct error line;
	bool is_damaged;

	if (!top->view.is_shown)
		return EXIT_DONE;
	/* The copy has no end while the recording goes on. */
	profile->recordings[0].damage.text[0] = 0;
	profile_say_notes(profile);
	is_damaged = summary->has_end || summary->damage.places ||
		     summary->damage.missing;
	if (!is_damaged || !summary_damage(summary, top->input.name, &line))
		return EXIT_DONE;
	fprintf(stderr, "uniprof top: %s\n", line.text);
	return EXIT_DAMAGED;
}

static int run(struct top *top)
{
	struct top_options *options = &top->options;
	struct error err = {""};
	int status;

	top->view = (struct view){
		.rules = &options->profile.rules,
		.format = options->format,
		.report = options->view,
	};
	status = options->tables ? 0 : messages_keep(&top->messages, &err);
	if (status == 0)
		status = open_input(top, &err);
	top->view.name = top->input.name;
	if (status == 0)
		status = recent_open(&top->recent, &top->input, options->window, &err);
	if (status == 0)
		status = view_open(&top->view, top->recent.path, &err);
	if (status == 0) {
		profile_describe_symbols(&top->view.profile);
		status = options->tables ? print_tables(top, &err)
					 : screen_run(top, &err);
	}
	end_live(top);
	messages_end(&top->messages);
	/* A recorder that failed has said why, unless it could not. */
	if (top->live.killed)
		fprintf(stderr, "uniprof top: the recorder was killed by signal %d\n",
			top->live.killed);
	if (top->live.status)
		return top->live.status;
	if (status == 0)
		return say_notes(top);
	fprintf(stderr, "uniprof top: %s\n", err.text);
	return EXIT_FAILED;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	struct top top = {
		.input.fd = -1, .live.pipe = -1, .recent.copy.fd = -1, .messages.fd = -1};
	int status = top_options_parse(&top.options, command, argc, argv);

	if (status == COMMAND_GO_ON) {
		status = run(&top);
		view_close(&top.view);
		recent_close(&top.recent);
		input_close(&top.input);
		for (size_t i = 0; i < top.spec_count; i++)
			free(top.specs[i]);
		free(top.specs);
	}
	top_options_free(&top.options);
	return status;
}

const struct command command_top = {
	.name = "top",
	.arguments = "[DOMAIN]...",
	.most = COMMAND_ANY,
	.summary = "show where guests spend their time, now",
	.about = "Samples running Xen domains or KVM guests, given by name or id, and "
		 "shows "
		 "their functions on the terminal, until q is pressed; h lists the keys. "
		 "With -i, shows a recording.",
	.damaged = "the recording is damaged, and what could be read was shown",
	.groups = top_option_groups,
	.run = run_command,
};

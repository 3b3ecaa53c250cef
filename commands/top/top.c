/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/command/message.h"
#include "base/text.h"
#include "commands/report/notes.h"
#include "commands/top/display.h"
#include "commands/top/feed.h"
#include "commands/top/messages.h"
#include "commands/top/options.h"
#include "commands/top/screen/screen.h"
#include "commands/top/view.h"
#include "record/safety/privileges.h"
#include "report/load/ends.h"

/* One run of the command. */
struct top {
	struct top_options options;
	struct feed feed;
	struct view view;
	struct messages messages;
	bool is_direct; /* the recording was read without a copy */
	struct found_files found;
	struct symbols_found *names; /* of these files; owned */
};

/* Says, once, that the recording has not started; a recorder says so itself. *@size is
 * the file's size at the previous call, -1 before the first. -1 with @err set if the file
 * has not grown since then, and no process can make it grow. */
static int check_start(const struct feed *feed, off_t *size, struct error *err)
{
	const struct input *input = &feed->input;
	struct stat file;

	if (!feed->is_recording)
		return 0;
	if (*size < 0)
		message("top", "waiting for the start of %s", input->name);
	if (fstat(input->fd, &file) < 0)
		return error_errno(err, errno, "can't read %s", input->name);
	if (file.st_size == *size && !recent_is_written(&feed->recent))
		return error_set(err,
				 "%s is not a recording yet, and no process has it "
				 "open for writing",
				 input->name);
	*size = file.st_size;
	return 0;
}

/* How long the first table waits for the first samples, at most. */
#define FIRST_SAMPLES_NS (5 * NS_PER_S)

/* Prints a table of the recording at @path. */
static int table_print(struct top *top, const char *path, struct error *err)
{
	if (view_write(&top->view, path, stdout, err) < 0)
		return -1;
	return fflush(stdout) != 0 ? error_set(err, "can't write to standard output") : 0;
}

/* Whether all of a complete recording is shown, which needs no copy: it would be decoded
 * twice. */
static bool is_complete(const struct top *top)
{
	const struct input *input = &top->feed.input;
	struct summary summary = {0};
	bool is_complete = top->feed.is_recording && !top->options.window &&
			   input->start == 0 && ends_read(input, &summary);

	summary_free(&summary);
	return is_complete;
}

/* Prints the only table of a complete recording. */
static int print_complete(struct top *top, struct error *err)
{
	char path[RECENT_PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", top->feed.input.fd);
	top->is_direct = true;
	return table_print(top, path, err);
}

/* Whether there is something to show in the first table. */
static bool has_first(const struct top *top)
{
	const struct summary *summary = &top->feed.recent.summary;

	return top->options.profile.rules.weight == MEASURE_WAIT ? summary->waits.rounds
								 : summary->samples;
}

/* Prints the tables, each after a delay; the last one at once if the recording has ended.
 */
static int print_tables(struct top *top, struct error *err)
{
	const struct recent *recent = &top->feed.recent;
	uint64_t next = clock_monotonic(), first_most = next + FIRST_SAMPLES_NS;
	uint64_t columns = text_columns(stdout);
	uint64_t printed = 0;
	off_t size = -1;

	privileges_keep_files();
	top->view.report.columns = columns == SIZE_MAX ? 0 : columns;
	if (is_complete(top))
		return print_complete(top, err);
	while (printed < top->options.tables && recent->more) {
		next += top->options.delay;
		if (feed_read_until(&top->feed, next, err) < 0)
			return -1;
		if (!recent_is_ready(recent)) {
			if (check_start(&top->feed, &size, err) < 0)
				return -1;
			continue;
		}
		if (!printed && !has_first(top) && recent->more && next < first_most)
			continue;
		if (printed++)
			putchar('\n');
		if (table_print(top, recent->path, err) < 0)
			return -1;
	}
	return 0;
}

/* Prints notes on the last table and on parts that could not be read. Returns the exit
 * code. */
static int say_notes(struct top *top)
{
	struct profile *profile = &top->view.profile;
	const struct summary *summary = top->is_direct ? &profile->summary
						       : &top->feed.recent.summary;
	struct error damage;
	bool is_damaged;

	if (!top->view.is_shown)
		return EXIT_DONE;
	/* The copy has no end while the recording goes on. */
	profile->recordings[0].damage.text[0] = 0;
	if (profile_note_contents(profile, &top->options.profile.notes) < 0) {
		message("top", "out of memory");
		return EXIT_FAILED;
	}
	notes_print(&profile->notes, "top", NULL);
	is_damaged = summary->has_end || summary->damage.places ||
		     summary->damage.missing;
	if (!is_damaged || !summary_damage(summary, top->feed.input.name, &damage))
		return EXIT_DONE;
	fprintf(stderr, "uniprof top: %s\n", damage.text);
	return EXIT_DAMAGED;
}

static int show_screen(struct top *top, struct error *err)
{
	struct display display;
	int status;

	display_init(&display, &top->feed, &top->view, top->options.delay);
	status = screen_run(&display, &top->messages, err);
	display_free(&display);
	return status;
}

/* Looks for files with the guests' names. -1 if out of memory. */
static int find_names(struct top *top)
{
	struct profile_rules *rules = &top->options.profile.rules;

	top_options_find(&top->options, &top->found);
	top->names = calloc(top->found.guests + 1, sizeof(*top->names));
	if (!top->names)
		return -1;
	for (size_t i = 0; i < top->found.guests; i++) {
		const struct symbols_found names = found_files_names(&top->found, i);

		if (names.data)
			top->names[rules->found_count++] = names;
	}
	rules->found = top->names;
	return 0;
}

/* Shows the samples as the options say. -1 with @err set on failure. */
static int show_samples(struct top *top, struct error *err)
{
	struct top_options *options = &top->options;

	if (find_names(top) < 0)
		return error_set(err, "out of memory");
	if (feed_open(&top->feed, options, err) < 0)
		return -1;
	top->view = (struct view){
		.options = &options->profile,
		.format = options->format,
		.report = options->view,
		.name = top->feed.input.name,
	};
	if (view_open(&top->view, top->feed.recent.path, err) < 0)
		return -1;
	profile_note_symbols(&top->view.profile, &options->profile.notes);
	notes_print(&top->view.profile.notes, "top", NULL);
	return options->tables ? print_tables(top, err) : show_screen(top, err);
}

static int top_show(struct top *top)
{
	const struct recorder *recorder = &top->feed.recorder;
	struct error err = {""};
	int status = 0;

	if (!top->options.tables)
		status = messages_keep(&top->messages, &err);
	if (status == 0)
		status = show_samples(top, &err);
	feed_end(&top->feed);
	messages_end(&top->messages);
	/* A recorder that failed has said why, unless it could not. */
	if (recorder->killed)
		fprintf(stderr, "uniprof top: the recorder was killed by signal %d\n",
			recorder->killed);
	if (recorder->status)
		return recorder->status;
	if (status == 0)
		return say_notes(top);
	fprintf(stderr, "uniprof top: %s\n", err.text);
	return EXIT_FAILED;
}

static int top_command(const struct command *command, int argc, char **argv)
{
	struct top top = {.feed = FEED_CLOSED, .messages.fd = -1};
	int status = top_options_parse(&top.options, command, argc, argv);

	if (status == COMMAND_GO_ON) {
		status = top_show(&top);
		view_close(&top.view);
		feed_close(&top.feed);
	}
	found_files_free(&top.found);
	free(top.names);
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
	.run = top_command,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/namer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/command/message.h"
#include "base/error.h"
#include "commands/archive.h"
#include "record/file/opener.h"
#include "record/find/find.h"
#include "record/safety/privileges.h"
#include "record/signals.h"

static bool has_rotation(const struct record_options *options)
{
	return options->rotation.time || options->rotation.size;
}

/* Files of a rotation, by their numbers. */
struct file_range {
	uint64_t first, last;
};

/* Stores names in the files that still exist. */
static int store_in_all(const struct archive_names *names,
			const struct record_options *options,
			const struct file_range *range)
{
	int exit_code = EXIT_DONE;

	for (uint64_t i = range->first; i <= range->last && exit_code == EXIT_DONE; i++) {
		char *path;

		if (asprintf(&path, "%s.%" PRIu64, options->output, i) < 0)
			return EXIT_FAILED;
		exit_code = archive_store(names, path);
		free(path);
	}
	return exit_code;
}

/* @range: the files, with a rotation. Returns the exit code. */
static int store_names(const struct record_options *options,
		       const struct file_range *range)
{
	const struct found_files *had = options->unwinding.found;
	struct symbols_found *found = calloc(had->guests + 1, sizeof(*found));
	struct archive_names names = {
		.command = "record",
		.files = {.symbols = options->unwinding.elf,
			  .symbol_count = options->unwinding.elfs,
			  .found = found,
			  .found_count = found ? had->guests : 0},
		.lines = options->lines,
		.is_brief = has_rotation(options),
		.verbose = options->verbose,
	};
	int status;

	for (size_t i = 0; i < names.files.found_count; i++)
		found[i] = found_files_names(had, i);
	status = has_rotation(options) ? store_in_all(&names, options, range)
				       : archive_store(&names, options->output);
	free(found);
	return status;
}

/* Whether there are names to store, in a recording that can be read again. */
static bool has_names(const struct record_options *options,
		      const struct found_files *found)
{
	return strcmp(options->output, "-") != 0 &&
	       (options->unwinding.elfs || found->guests);
}

/* Storing names in the files of a rotation. */
struct naming {
	const struct record_options *options;
	struct file_range range; /* files that @child names, or named last */
	pid_t child;		 /* 0: none */
};

/* Notes whether the child has named its files; if not, the next child does. False if it
 * still runs. */
static bool naming_has_ended(struct naming *naming, int wait_options)
{
	int status = EXIT_FAILED;

	if (!naming->child)
		return true;
	if (waitpid(naming->child, &status, wait_options) == 0)
		return false;
	naming->child = 0;
	if (status == 0)
		naming->range.first = naming->range.last + 1;
	return true;
}

/* Starts a child that stores names in all files but the last, which is still written.
 * While one runs, files wait for the next. */
static void naming_go_on(struct naming *naming)
{
	const struct record_options *options = naming->options;
	eventfd_t count;

	eventfd_read(options->rotation.complete, &count);
	if (!has_names(options, options->unwinding.found) ||
	    !naming_has_ended(naming, WNOHANG))
		return;
	naming->range.last = opener_highest(options->output) - 1;
	naming->child = fork();
	if (naming->child == 0) {
		privileges_keep_files();
		_exit(store_names(options, &naming->range));
	}
	if (naming->child < 0)
		naming->child = 0;
}

/* Runs in the child. Before the recording is complete, signals are for the recorder.
 * Returns the exit code. */
static int wait_and_store(const struct finder *finder,
			  const struct record_options *options, bool finds)
{
	struct naming naming = {.options = options};
	int complete = options->rotation.complete;
	const sigset_t ends = signals_ends();
	enum finder_end end;

	if (has_rotation(options))
		naming.range.first = opener_highest(options->output) + 1;
	signals_set(&ends, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "uniprof-namer");
	if (finds || complete)
		privileges_keep_finding();
	else
		privileges_keep_files();
	while ((end = finder_serve(finder, complete ? complete : -1)) ==
	       FINDER_INTERRUPTED)
		naming_go_on(&naming);
	if (end == FINDER_ABANDONED || !has_names(options, finder->found))
		return EXIT_DONE;
	naming_has_ended(&naming, 0);
	if (finds || complete)
		privileges_keep_files();
	signals_set(&ends, SIG_DFL);
	if (has_rotation(options))
		naming.range.last = opener_highest(options->output);
	return store_names(options, &naming.range);
}

/* Makes the pipes: @own are the recorder's ends, @other the child's. */
static int make_pipes(struct finder *own, struct finder *other, struct error *err)
{
	int questions[2], answers[2];

	if (pipe2(questions, O_CLOEXEC) < 0)
		return error_errno(err, errno, "can't make a pipe");
	if (pipe2(answers, O_CLOEXEC) < 0) {
		error_errno(err, errno, "can't make a pipe");
		close(questions[0]);
		close(questions[1]);
		return -1;
	}
	own->questions = questions[1];
	own->answers = answers[0];
	other->questions = questions[0];
	other->answers = answers[1];
	return 0;
}

int namer_start(struct namer *namer, struct record_options *options,
		struct found_files *found, bool finds, struct error *err)
{
	struct finder *own = &namer->finder, other = {.found = found};

	*namer = (struct namer){.finder = {-1, -1, found}};
	if (!finds && !has_names(options, found))
		return 0;
	if (make_pipes(own, &other, err) < 0)
		return -1;
	if (has_rotation(options))
		options->rotation.complete = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fflush(NULL);
	namer->child = fork();
	if (namer->child == 0) {
		finder_close(own);
		_exit(wait_and_store(&other, options, finds));
	}
	finder_close(&other);
	if (namer->child > 0)
		return 0;
	finder_close(own);
	namer->child = 0;
	return error_errno(err, errno, "can't start a process");
}

int namer_end(struct namer *namer, bool is_complete)
{
	int status = 0;
	bool asked;

	if (!namer->child)
		return 0;
	asked = is_complete && finder_finish(&namer->finder);
	finder_close(&namer->finder);
	while (waitpid(namer->child, &status, 0) < 0 && errno == EINTR)
		;
	namer->child = 0;
	if (asked == is_complete && status == 0)
		return 0;
	message("record",
		"the recording is complete, but not all names are stored in it: "
		"use uniprof archive");
	return -1;
}

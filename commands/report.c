/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/commands.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/report/browser.h"
#include "commands/report/notes.h"
#include "commands/report/options.h"
#include "commands/report/pager.h"
#include "commands/report/progress.h"
#include "output/write/outfile.h"

static int report_write(const struct report_options *options, struct pager *pager)
{
	struct profile profile = {0};
	struct error err = {""}, write_err = {""};
	struct report_view view = options->view;
	struct progress line;
	const struct profile_progress progress = progress_of_profile(&line);
	int exit_code = EXIT_FAILED, status;
	struct outfile out;

	if (profile_open(&profile, &options->profile.rules, &err) < 0)
		goto out;
	if (profile_reads(&profile, options->output, &err)) {
		exit_code = EXIT_USAGE;
		goto out;
	}
	pager_start(pager, !options->no_pager && (!options->output ||
						  strcmp(options->output, "-") == 0));
	view.columns = pager->columns;
	if (outfile_open(&out, options->output, &err) < 0)
		goto out;
	out.writes.recorded = &profile.bytes;
	profile_note_symbols(&profile, &options->profile.notes);
	notes_print(&profile.notes, "report", NULL);
	status = output_write(options->format, &profile, &view, &options->profile.notes,
			      pager->pid || isatty(fileno(out.stream)) ? NULL : &progress,
			      out.stream, &err);
	if (status < 0)
		notes_print(&profile.notes, "report", NULL);
	if (outfile_close(&out, status == 0, &write_err) < 0) {
		err = write_err;
		goto out;
	}
	if (status == 0) {
		exit_code = profile_is_damaged(&profile) ? EXIT_DAMAGED : EXIT_DONE;
		notes_print(&profile.notes, "report", NULL);
		if (options->opens)
			browser_open("report", options->output);
	}
out:
	if ((exit_code == EXIT_FAILED || exit_code == EXIT_USAGE) && err.text[0])
		fprintf(stderr, "uniprof report: %s\n", err.text);
	profile_close(&profile);
	return exit_code;
}

static int report_run(const struct report_options *options)
{
	struct pager pager = {0};
	int exit_code = report_write(options, &pager);

	pager_end(&pager);
	return exit_code;
}

static int report_command(const struct command *command, int argc, char **argv)
{
	struct report_options options;
	int status = report_options_parse(&options, command, argc, argv);

	if (status == COMMAND_GO_ON)
		status = report_run(&options);
	report_options_free(&options);
	return status;
}

const struct command command_report = {
	.name = "report",
	.arguments = "[FILE]...",
	.most = COMMAND_ANY,
	.summary = "write a profile of a recording",
	.about = "Resolves the addresses of a recording to function names and writes a "
		 "profile, for reading or for other tools. FILE is the same as -i FILE.",
	.damaged = "a recording is damaged, and what could be read was reported",
	.groups = report_option_groups,
	.run = report_command,
};

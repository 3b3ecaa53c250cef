/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/archive/archive.h"

#include <signal.h>
#include <string.h>

#include "base/command/usage.h"
#include "commands/commands.h"
#include "report/profile_options.h"

static int add_input(void *to, const char *argument, struct error *err)
{
	return profile_options_input(to, argument, err);
}

static const struct command_option file_options[] = {
	{"input", 'i', "FILE", "recording to read (default: uniprof.data)",
	 .set = add_input, .offset = offsetof(struct archive_options, profile)},
	{"output", 'o', "FILE",
	 "write to FILE (default: the recording itself; - for standard output); an "
	 "existing file is kept as FILE.old",
	 .set = option_set_text, .offset = offsetof(struct archive_options, output)},
	{"verbose", 'v', NULL, "show details of the recording and the symbol files",
	 .set = option_set_true,
	 .offset = offsetof(struct archive_options, profile.rules.verbose)},
	{0},
};

static const struct command_option line_options[] = {
	{"srcline", 0, NULL,
	 "also store source lines and inlined functions, for --srcline and --inline of "
	 "reports (needs DWARF)",
	 .set = option_set_true,
	 .offset = offsetof(struct archive_options, profile.rules.srcline)},
	{"inline", 0, NULL, "the same as --srcline", .set = option_set_true,
	 .offset = offsetof(struct archive_options, profile.rules.srcline)},
	{0},
};

static const struct option_group groups[] = {
	{"Options", file_options, 0},
	{"Names", profile_file_options, offsetof(struct archive_options, profile)},
	{NULL, line_options, 0},
	{0},
};

static int parse(struct archive_options *options, const struct command *command, int argc,
		 char **argv)
{
	struct profile_rules *rules = &options->profile.rules;
	struct error err;
	char **file;
	int status;

	*options = (struct archive_options){0};
	if (profile_options_init(&options->profile, command->name, argc) < 0)
		return EXIT_FAILED;
	rules->demangle = DEMANGLE_NOT; /* reports do that */
	rules->names_only = true;
	status = command_parse(command, argc, argv, options, &file);
	if (status != COMMAND_GO_ON)
		return status;
	if (*file)
		profile_options_input(&options->profile, *file, &err);
	if (!rules->input_count)
		profile_options_input(&options->profile, "uniprof.data", &err);
	if (rules->input_count > 1)
		return usage_error(command->name, "give one recording at a time");
	if (!rules->symbol_count)
		return usage_error(command->name, "give the symbol files with -s");
	if (!options->output && strcmp(rules->inputs[0], "-") == 0)
		return usage_error(command->name,
				   "give the output of standard input with -o");
	return COMMAND_GO_ON;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	struct archive_options options;
	int status = parse(&options, command, argc, argv);

	if (status == COMMAND_GO_ON) {
		signal(SIGPIPE, SIG_IGN);
		signal(SIGXFSZ, SIG_IGN);
		status = archive_run(&options);
	}
	profile_options_free(&options.profile);
	return status;
}

const struct command command_archive = {
	.name = "archive",
	.arguments = "[FILE]",
	.most = 1,
	.summary = "store the names of a recording in it",
	.about =
		"Stores in a recording the names of the addresses that were met, and the "
		"build-ids of the programs, so that reports of it need no symbol files. "
		"FILE is the same as -i FILE.",
	.damaged = "the recording is damaged, and what could be read was copied",
	.groups = groups,
	.run = run_command,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/archive.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/command/message.h"
#include "commands/commands.h"
#include "commands/report/notes.h"
#include "commands/report/profile_options.h"
#include "commands/report/progress.h"
#include "report/archive/archive.h"

/* The options of `uniprof archive`. The strings are argv's. */
struct options {
	struct profile_options profile;
	struct archive_options archive;
	bool is_brief; /* no notes */
};

static int add_input(void *to, const char *argument, struct error *err)
{
	return profile_options_input(to, argument, err);
}

static const struct command_option file_options[] = {
	{"input", 'i', "FILE", "recording to read (default: uniprof.data)",
	 .set = add_input, .offset = offsetof(struct options, profile)},
	{"output", 'o', "FILE",
	 "write to FILE (default: the recording itself; - for standard output); an "
	 "existing file is kept as FILE.old",
	 .set = option_set_text, .offset = offsetof(struct options, archive.output)},
	{"verbose", 'v', NULL, "show details of the recording and the symbol files",
	 .set = option_set_true,
	 .offset = offsetof(struct options, profile.notes.verbose)},
	{0},
};

static const struct command_option line_options[] = {
	{"srcline", 0, NULL,
	 "also store source lines and inlined functions, for --srcline and --inline of "
	 "reports (needs DWARF)",
	 .value = SOURCE_LINES_IN_NAMES,
	 .offset = offsetof(struct options, profile.rules.lines)},
	{"inline", 0, NULL, "the same as --srcline", .value = SOURCE_LINES_IN_NAMES,
	 .offset = offsetof(struct options, profile.rules.lines)},
	{0},
};

static const struct option_group groups[] = {
	{"Options", file_options, 0},
	{"Names", profile_file_options, offsetof(struct options, profile)},
	{NULL, profile_server_options, offsetof(struct options, profile)},
	{NULL, line_options, 0},
	{0},
};

/* Sets the options that the user can't choose: names are stored as they are in the files,
 * because reports demangle them. As profile_options_init(). */
static int options_init(struct options *options, const char *command, int files)
{
	if (profile_options_init(&options->profile, command, files) < 0)
		return -1;
	options->profile.rules.demangle = DEMANGLE_NOT;
	options->profile.rules.stores_names = true;
	options->profile.notes.names_only = true;
	return 0;
}

static int options_parse(struct options *options, const struct command *command, int argc,
			 char **argv)
{
	struct profile_rules *rules = &options->profile.rules;
	struct error err;
	char **file;
	int status;

	*options = (struct options){0};
	if (options_init(options, command->name, argc) < 0)
		return EXIT_FAILED;
	status = command_parse(command, argc, argv, options, &file);
	if (status != COMMAND_GO_ON)
		return status;
	if (*file)
		profile_options_input(&options->profile, *file, &err);
	if (!rules->input_count)
		profile_options_input(&options->profile, "uniprof.data", &err);
	if (rules->input_count > 1)
		return usage_error(command->name, "give one recording at a time");
	if (!rules->symbol_count && !rules->symfs)
		return usage_error(command->name,
				   "give the symbol files with -s, or the directory of "
				   "a Linux guest's files with --symfs");
	if (!options->archive.output && strcmp(rules->inputs[0], "-") == 0)
		return usage_error(command->name,
				   "give the output of standard input with -o");
	return COMMAND_GO_ON;
}

static void say_result(const char *command, const struct archive *archive)
{
	message(command,
		"wrote %" PRIu64 " name%s to %s: %" PRIu64 " bytes, %" PRIu64 " before",
		archive->names, archive->names == 1 ? "" : "s",
		strcmp(archive->path, "-") == 0 ? "standard output" : archive->path,
		archive->bytes, archive->profile->summary.bytes);
}

/* Stores the names. Returns an enum exit_code; messages are written. */
static int archive_run(const struct options *options)
{
	const char *command = options->profile.command;
	struct progress line;
	const struct profile_progress progress = progress_of_profile(&line);
	const struct profile_listener listener = {
		.progress = options->is_brief ? NULL : &progress,
	};
	struct archive archive = {.file.fd = -1};
	struct profile profile = {0};
	struct error err = {""};
	int exit_code = EXIT_FAILED, status;

	if (profile_open(&profile, &options->profile.rules, &err) < 0)
		goto out;
	if (archive_is_refused(&profile, &options->archive, &err)) {
		exit_code = EXIT_USAGE;
		goto out;
	}
	if (archive_open(&archive, &profile, &options->archive, &err) < 0)
		goto out;
	profile_note_symbols(&profile, &options->profile.notes);
	notes_print(&profile.notes, command, NULL);
	status = profile_read(&profile, &listener, &err);
	notes_print(&profile.notes, command, NULL);
	if (status == 0 && !options->is_brief &&
	    profile_note_contents(&profile, &options->profile.notes) < 0)
		status = profile_out_of_memory(&err);
	if (status < 0 || archive_write(&archive, &err) < 0)
		goto out;
	exit_code = EXIT_DONE;
	if (!options->is_brief) {
		if (profile_is_damaged(&profile))
			exit_code = EXIT_DAMAGED;
		notes_print(&profile.notes, command, NULL);
		say_result(command, &archive);
	}
out:
	if ((exit_code == EXIT_FAILED || exit_code == EXIT_USAGE) && err.text[0])
		message(command, "%s", err.text);
	archive_close(&archive);
	profile_close(&profile);
	return exit_code;
}

static int archive_command(const struct command *command, int argc, char **argv)
{
	struct options options;
	int status = options_parse(&options, command, argc, argv);

	if (status == COMMAND_GO_ON) {
		signal(SIGPIPE, SIG_IGN);
		signal(SIGXFSZ, SIG_IGN);
		status = archive_run(&options);
	}
	profile_options_free(&options.profile);
	return status;
}

/* Stores the names that are in the files. */
static int store_files(const struct archive_names *names,
		       const struct archive_files *files, const char *path)
{
	struct options options = {
		.archive = {.replaces = true, .must_fit = true},
		.is_brief = names->is_brief,
	};
	struct profile_rules *rules = &options.profile.rules;
	int exit_code = EXIT_FAILED;

	if (options_init(&options, names->command, (int)files->count) < 0)
		goto out;
	/* A guest has chosen the paths of these, and this process may be root's. */
	rules->finds_files = false;
	rules->inputs[rules->input_count++] = path;
	if (names->lines)
		rules->lines = SOURCE_LINES_IN_NAMES;
	options.profile.notes.verbose = names->verbose;
	for (size_t i = 0; i < files->count; i++)
		rules->symbols[rules->symbol_count++] = files->specs[i];
	rules->found = files->found;
	rules->found_count = files->found_count;
	exit_code = archive_run(&options);
out:
	profile_options_free(&options.profile);
	return exit_code;
}

int archive_store(const struct archive_names *names, const char *path)
{
	struct archive_files files = {0};
	int exit_code = EXIT_DONE;
	struct rlimit memory;
	struct error err;
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return EXIT_DONE;
	/* Each recording that is read limits the memory for what follows. */
	getrlimit(RLIMIT_DATA, &memory);
	if (archive_files_choose(&files, &names->files, path, &err) < 0) {
		message(names->command, "%s", err.text);
		exit_code = EXIT_FAILED;
	} else if (files.count || files.found_count) {
		exit_code = store_files(names, &files, path);
	}
	setrlimit(RLIMIT_DATA, &memory);
	archive_files_free(&files);
	return exit_code;
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
	.run = archive_command,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/command/message.h"
#include "base/replace.h"
#include "symbols/spec.h"
#include "tables/program_table.h"

struct table_options {
	const char *output;
	const char *debug_directory;
};

static const struct command_option known[] = {
	{"output", 'o', "FILE", "file to write the table to; - for standard output",
	 .set = option_set_text, .offset = offsetof(struct table_options, output)},
	{"debug-dir", 0, "DIR",
	 "where separate debug files are installed (default: /usr/lib/debug)",
	 .set = option_set_text,
	 .offset = offsetof(struct table_options, debug_directory)},
	{0},
};

static const struct option_group groups[] = {
	{"Options", known, 0},
	{0},
};

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_result(const struct program_table *table,
			 const struct table_coverage *coverage)
{
	char names[256];
	size_t size;

	unwind_table_memory(table->table, &size);
	program_table_names(table, names, sizeof(names));
	fprintf(stderr,
		"uniprof table: %s: %zu rows, %zu bytes in memory; describes %" PRIu64
		" of %" PRIu64 " functions and %.1f %% of %" PRIu64 " bytes of code\n",
		names, unwind_table_rows(table->table), size, coverage->functions_covered,
		coverage->functions, percent(coverage->text_covered, coverage->text),
		coverage->text);
	if (program_table_linux(table) && !program_table_tasks(table))
		fprintf(stderr, "uniprof table: processes will have no names: the kernel "
				"has no types (BTF), or does not export where its tasks "
				"are\n");
	if (program_table_linux(table) && !program_table_modules(table))
		fprintf(stderr, "uniprof table: chains will end in modules: the kernel "
				"has no types (BTF) of them\n");
}

static int write_table(const struct program_table *table, const char *path,
		       struct error *err)
{
	struct replace file;

	if (replace_open(&file, path, 0666, false, err) < 0)
		return -1;
	if (program_table_write(table, file.fd, path, err) < 0) {
		replace_abandon(&file);
		return -1;
	}
	return replace_commit(&file, err);
}

/* The file of one of @specs that writing to @path would change; NULL: none. */
static const char *find_input(char **specs, const char *path)
{
	for (size_t i = 0; specs[i]; i++) {
		struct symbols_offset offset;
		struct error ignored;
		struct stat st;
		char *input = symbols_spec_split(specs[i], &offset, &ignored);
		bool is_changed = input && stat(input, &st) == 0 &&
				  replace_changes(path, &st);

		free(input);
		if (is_changed)
			return specs[i];
	}
	return NULL;
}

static int table_make(const struct table_options *options, char **specs, size_t count)
{
	struct table_coverage coverage = {0};
	struct program_table *table;
	struct error err;
	int status = -1;

	table = program_table_make((const char *const *)specs, count,
				   options->debug_directory, &coverage, &err);
	if (table)
		status = write_table(table, options->output, &err);
	if (status == 0)
		print_result(table, &coverage);
	else
		fprintf(stderr, "uniprof table: %s\n", err.text);
	program_table_free(table);
	return status == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int table_command(const struct command *command, int argc, char **argv)
{
	struct table_options options = {.debug_directory = DEBUG_DIRECTORY};
	char **files;
	int status = command_parse(command, argc, argv, &options, &files);
	const char *input;
	size_t count = 0;

	if (status != COMMAND_GO_ON)
		return status;
	while (files[count])
		count++;
	if (!count)
		return usage_error(command->name, "no ELF file given");
	if (!options.output)
		return usage_error(command->name, "no output file given; use -o FILE");
	if (strcmp(options.output, "-") == 0 && isatty(STDOUT_FILENO))
		return usage_error(command->name,
				   "refusing to write a table to a terminal; use -o FILE "
				   "or a pipe");
	input = find_input(files, options.output);
	if (input) {
		fprintf(stderr,
			"uniprof table: refusing to overwrite %s: it is the input %s\n",
			options.output, input);
		return EXIT_FAILED;
	}
	return table_make(&options, files, count);
}

const struct command command_table = {
	.name = "table",
	.arguments = "ELF[@OFFSET]...",
	.most = COMMAND_ANY,
	.summary = "make an unwind table of ELF files, for record --table",
	.about = "Makes a table of how functions are unwound, from the call frame "
		 "information in ELF files or, where there is none, from "
		 "their code and symbols. With it, record finds whole call chains in "
		 "guests without "
		 "frame pointers. OFFSET is added to a file's addresses.",
	.groups = groups,
	.run = table_command,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "format/recording.h"
#include "import/commands.h"
#include "record/commands.h"
#include "report/report.h"
#include "tables/command.h"
#include "top/command.h"

static const struct command *const commands[] = {
	&command_record, &command_top,	&command_report, &command_diff,	 &command_info,
	&command_import, &command_list, &command_stack,	 &command_table,
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *to)
{
	fputs("Usage: uniprof COMMAND [OPTION]...\n"
	      "\n"
	      "A profiler for Xen and KVM guests that samples them from outside.\n"
	      "\n"
	      "Commands:\n",
	      to);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(to, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\n"
	      "Options:\n"
	      "  -h, --help  show this help; after a command, the help of that command\n"
	      "  --version   show the version of uniprof and of its recording format\n",
	      to);
}

static int print_version(void)
{
	printf("uniprof %s (recording format %d)\n", UNIPROF_VERSION, RECORDING_VERSION);
	return EXIT_DONE;
}

/* For scripts/completions and tests. */
static int list_options(void)
{
	for (size_t i = 0; i < COMMANDS; i++)
		command_list_options(commands[i], stdout);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i]->run(commands[i], argc - 1, argv + 1);
	if (strcmp(name, "--version") == 0)
		return print_version();
	if (strcmp(name, "--list-options") == 0)
		return list_options();
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
		print_help(stdout);
		return EXIT_DONE;
	}
	if (*name)
		fprintf(stderr, "uniprof: unknown command '%s' (see uniprof --help)\n",
			name);
	else
		print_help(stderr);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	int status = run(argc, argv);

	/* The output may be incomplete, for example on a full disk. */
	if ((fflush(stdout) == 0 && !ferror(stdout)) || status)
		return status;
	fputs("uniprof: can't write to standard output\n", stderr);
	return EXIT_FAILED;
}

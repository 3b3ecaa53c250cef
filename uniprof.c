/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "base/command/nearest.h"
#include "base/version.h"
#include "commands/commands.h"
#include "commands/help/help.h"
#include "format/recording.h"

static const struct command *const commands[] = {
	&command_record, &command_top,	   &command_report,	&command_diff,
	&command_info,	 &command_archive, &command_import,	&command_list,
	&command_stack,	 &command_table,   &command_flamegraph,
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int run_help(int argc, char **argv);
static int run_version(int argc, char **argv);
static int list_commands(int argc, char **argv);
static int list_options(int argc, char **argv);

/* Words accepted in place of a command. */
static const struct {
	const char *name;
	const char *arguments;
	const char *summary; /* NULL: not listed among the commands */
	int (*run)(int argc, char **argv);
} words[] = {
	{"help", "[COMMAND]", "show the help of uniprof, or of a command", run_help},
	{"completions", "SHELL", "print completions for bash, zsh or fish",
	 completions_run},
	{"version", NULL, "show the version, as --version does", run_version},
	{"--help", NULL, NULL, run_help},
	{"-h", NULL, NULL, run_help},
	{"--version", NULL, NULL, run_version},
	{"--list-commands", NULL, NULL, list_commands},
	{"--list-options", NULL, NULL, list_options},
};

#define WORDS (sizeof(words) / sizeof(words[0]))

static void print_help(FILE *to)
{
	fputs("Usage: uniprof COMMAND [OPTION]...\n"
	      "\n"
	      "A profiler for Xen and KVM guests that samples them from outside.\n"
	      "\n"
	      "Commands:\n",
	      to);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(to, "  %-11s %s\n", commands[i]->name, commands[i]->summary);
	for (size_t i = 0; i < WORDS; i++)
		if (words[i].summary)
			fprintf(to, "  %-11s %s\n", words[i].name, words[i].summary);
	fputs("\n"
	      "Options:\n"
	      "  -h, --help  show this help; after a command, the help of that command\n"
	      "  --man       after help: show the manual page of uniprof, or of a "
	      "command\n"
	      "  --version   show the version of uniprof and of its recording format\n",
	      to);
}

static int refuse_command(const char *name)
{
	char hint[NEAREST_HINT_SIZE];
	struct nearest nearest;

	nearest_start(&nearest, name, strlen(name));
	for (size_t i = 0; i < COMMANDS; i++)
		nearest_consider(&nearest, commands[i]->name);
	for (size_t i = 0; i < WORDS; i++)
		nearest_consider(&nearest, words[i].name);
	fprintf(stderr, "uniprof: unknown command '%s'%s (see uniprof --help)\n", name,
		nearest_hint(&nearest, "", hint));
	return EXIT_USAGE;
}

static const struct command *find_command(const char *name)
{
	if (strcmp(name, "dump") == 0) /* as in py-spy */
		return &command_stack;
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

/* uniprof help [--man] [COMMAND] */
static int run_help(int argc, char **argv)
{
	bool is_page = argc > 1 && strcmp(argv[1], "--man") == 0;
	const char *name = argc > 1 + is_page ? argv[1 + is_page] : NULL;
	const struct command *command = name ? find_command(name) : NULL;

	if (name && !command)
		return refuse_command(name);
	if (is_page)
		return man_show(command ? command->name : NULL);
	if (command)
		command_help(command, stdout);
	else
		print_help(stdout);
	return EXIT_DONE;
}

static int run_version(int argc, char **argv)
{
	(void)argc, (void)argv;
	printf("uniprof %s (recording format %d)\n", UNIPROF_VERSION, RECORDING_VERSION);
	return EXIT_DONE;
}

static void list_command(const char *name, const char *arguments, const char *summary)
{
	printf("%s\t%s\t%s\n", name, arguments ? arguments : "", summary);
}

/* For scripts/completions and tests: a line per command, with tab-separated fields. */
static int list_commands(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (size_t i = 0; i < COMMANDS; i++)
		list_command(commands[i]->name, commands[i]->arguments,
			     commands[i]->summary);
	for (size_t i = 0; i < WORDS; i++)
		if (words[i].summary)
			list_command(words[i].name, words[i].arguments, words[i].summary);
	return EXIT_DONE;
}

/* For scripts/completions and tests: a line for each option of each command
 * (command_list_options()). */
static int list_options(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (size_t i = 0; i < COMMANDS; i++)
		command_list_options(commands[i], stdout);
	return EXIT_DONE;
}

static int run_arguments(int argc, char **argv)
{
	const struct command *command = argc > 1 ? find_command(argv[1]) : NULL;

	if (command)
		return command->run(command, argc - 1, argv + 1);
	if (argc < 2 || !*argv[1]) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < WORDS; i++)
		if (strcmp(words[i].name, argv[1]) == 0)
			return words[i].run(argc - 1, argv + 1);
	return refuse_command(argv[1]);
}

int main(int argc, char **argv)
{
	int status = run_arguments(argc, argv);

	/* The output may be incomplete, for example on a full disk. */
	if ((fflush(stdout) == 0 && !ferror(stdout)) || status)
		return status;
	fputs("uniprof: can't write to standard output\n", stderr);
	return EXIT_FAILED;
}

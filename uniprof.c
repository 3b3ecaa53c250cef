/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/version.h"
#include "import/commands.h"
#include "record/commands.h"
#include "report/report.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"record", command_record, "sample running domains into a file"},
	{"report", command_report, "make profiles of a recording"},
	{"diff", command_diff, "compare two recordings"},
	{"info", command_info, "show what is in a recording"},
	{"import", command_import, "make a recording of other tools' text"},
	{"list", command_list, "list the domains of this host"},
	{"stack", command_stack, "show a domain's stacks and registers, once"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *to)
{
	fputs("Usage: uniprof COMMAND [OPTION]...\n"
	      "A profiler for Xen domains, from outside of them.\n\n",
	      to);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fputs("\n'uniprof COMMAND --help' tells more; --version shows the version.\n",
	      to);
}

/* What was printed may not have got where it should, as to a full disk. */
static int check_output(int status)
{
	if ((fflush(stdout) == 0 && !ferror(stdout)) || status)
		return status;
	fputs("uniprof: can't write to standard output\n", stderr);
	return EXIT_FAILED;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return check_output(commands[i].run(argc - 1, argv + 1));
	if (strcmp(name, "--version") == 0) {
		puts("uniprof " UNIPROF_VERSION);
		return check_output(EXIT_DONE);
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
		print_help(stdout);
		return check_output(EXIT_DONE);
	}
	if (*name)
		fprintf(stderr,
			"uniprof: there is no command '%s' (see uniprof --help)\n", name);
	else
		print_help(stderr);
	return EXIT_USAGE;
}

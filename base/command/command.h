/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_COMMAND_COMMAND_H
#define UNIPROF_BASE_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

/*
 * A command and its options, as tables. The command line parser, --help, the shell
 * completions and the check of the man pages all use these tables.
 */

/* One of the words accepted as an option's argument. */
struct option_word {
	const char *word;
	const char *about; /* one line for --help; NULL: none */
	int value;
};

/* One option. -h and --help are common to all commands and not in the tables. */
struct command_option {
	const char *name;     /* long name, without dashes; NULL ends a table */
	char letter;	      /* short name; 0: none */
	const char *argument; /* name of the argument in --help; NULL: takes none */
	const char *help;     /* text for --help; NULL: not listed, such as a default */
	/* Returns the @i-th accepted word; its name is NULL after the last. With @takes,
	 * the words are only for completions, and @set checks the argument. */
	struct option_word (*word)(unsigned int i);
	const char *words; /* heading of the words in --help; NULL: @help lists them */
	/*
	 * Stores the argument (NULL if the option takes none) at @to. -1 if it is
	 * invalid, with the reason in @err; if @err is empty, the message is made from
	 * @takes. COMMAND_NO_MEMORY if out of memory.
	 * NULL: the value of the word, or of the option, is stored in an enum.
	 */
	int (*set)(void *to, const char *argument, struct error *err);
	size_t offset;	   /* offset of @to in the options of its group */
	const char *takes; /* accepted arguments: "a number from 1 to 9" */
	int value;	   /* value of an option without @word and @set */
	bool is_optional;  /* --NAME[=ARGUMENT]: @set may get NULL */
};

/* Options that --help lists under one heading. */
struct option_group {
	const char *heading; /* NULL: listed under the previous group's heading */
	const struct command_option *options;
	size_t offset; /* offset of the group's structure in the command's options */
};

struct command {
	const char *name;
	const char *arguments; /* arguments after the options, as shown in --help */
	unsigned int most;     /* maximum number of arguments */
	const char *summary;   /* one line for `uniprof --help` */
	const char *about;     /* a paragraph for the command's --help */
	const char *damaged;   /* meaning of exit code 3; NULL: never returned */
	const struct option_group *groups; /* ends with a group without options */
	/* argv[0] is the command's name. Returns an enum exit_code. */
	int (*run)(const struct command *command, int argc, char **argv);
};

/* A value of @most: no limit. */
#define COMMAND_ANY (~0u)

/* Not an exit code: the command should run. */
#define COMMAND_GO_ON	  (-1)
#define COMMAND_NO_MEMORY (-2)

/*
 * Sets @options, which hold the defaults, from the command line, and *@arguments to the
 * NULL-terminated list of arguments after the options. Returns COMMAND_GO_ON, or the
 * exit code if help was printed or an error was reported.
 */
int command_parse(const struct command *command, int argc, char **argv, void *options,
		  char ***arguments);

/* Prints the text of `uniprof COMMAND --help`. */
void command_help(const struct command *command, FILE *out);

/* Prints the words that the option accepts, as in --help. */
void command_help_words(const struct command_option *option, FILE *out);

/*
 * Prints a line for each option, with tab-separated fields: the command's name, --name,
 * -letter, the argument's name, the accepted words, the help. Missing fields are empty.
 */
void command_list_options(const struct command *command, FILE *out);

/* Setters for struct command_option: a bool becomes true; a const char * becomes the
 * argument; a uint64_t becomes the time in ns that parse_time() reads. */
int option_set_true(void *to, const char *argument, struct error *err);
int option_set_text(void *to, const char *argument, struct error *err);
int option_set_time(void *to, const char *argument, struct error *err);

/* For setters: appends the argument to the list at *@list, which has *@count texts and is
 * to be freed. Returns 0, or COMMAND_NO_MEMORY. */
int option_append(const char ***list, size_t *count, const char *argument);

#endif

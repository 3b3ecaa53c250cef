/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/command/command.h"

#define LINE_WIDTH   79
#define HELP_COLUMN  24
#define WORDS_COLUMN 18

/* Prints @text, wrapped and indented to @column, where the cursor already is. */
static void put_wrapped(FILE *out, const char *text, size_t column)
{
	size_t at = column;

	while (*text) {
		size_t length = strcspn(text, " ");

		if (at > column && at + 1 + length > LINE_WIDTH) {
			fprintf(out, "\n%*s", (int)column, "");
			at = column;
		}
		at += (size_t)fprintf(out, "%s%.*s", at > column ? " " : "", (int)length,
				      text);
		text += length + strspn(text + length, " ");
	}
	fputc('\n', out);
}

/* Prints @left in the left column, and @text in the right one: on the next line if @left
 * is too long. */
static void put_entry(FILE *out, const char *left, const char *text, size_t column)
{
	if (strlen(left) < column)
		fprintf(out, "%-*s", (int)column, left);
	else
		fprintf(out, "%s\n%*s", left, (int)column, "");
	put_wrapped(out, text, column);
}

static void put_option(FILE *out, const struct command_option *option)
{
	char left[128];

	if (!option->help)
		return;
	snprintf(left, sizeof(left), "  %c%c%c --%s%s%s%s", option->letter ? '-' : ' ',
		 option->letter ? option->letter : ' ', option->letter ? ',' : ' ',
		 option->name,
		 !option->argument     ? ""
		 : option->is_optional ? "[="
				       : " ",
		 option->argument ? option->argument : "",
		 option->is_optional ? "]" : "");
	put_entry(out, left, option->help, HELP_COLUMN);
}

static const struct command_option help_option = {
	.name = "help",
	.letter = 'h',
	.help = "show this help",
};

void command_help_words(const struct command_option *option, FILE *out)
{
	char left[64];

	for (unsigned int i = 0; option->word(i).word; i++) {
		snprintf(left, sizeof(left), "  %s", option->word(i).word);
		put_entry(out, left, option->word(i).about, WORDS_COLUMN);
	}
}

void command_help(const struct command *command, FILE *out)
{
	const struct option_group *group;
	const struct command_option *option;
	char codes[256];

	fprintf(out, "Usage: uniprof %s [OPTION]...%s%s\n\n", command->name,
		command->arguments ? " " : "",
		command->arguments ? command->arguments : "");
	put_wrapped(out, command->about, 0);
	for (group = command->groups; group->options; group++) {
		if (group->heading)
			fprintf(out, "\n%s:\n", group->heading);
		for (option = group->options; option->name; option++)
			put_option(out, option);
		if (group == command->groups)
			put_option(out, &help_option);
	}
	for (group = command->groups; group->options; group++) {
		for (option = group->options; option->name; option++) {
			if (!option->words)
				continue;
			fprintf(out, "\n%s:\n", option->words);
			command_help_words(option, out);
		}
	}
	snprintf(codes, sizeof(codes), "Exit codes: 0 done, 1 failed, 2 wrong usage%s%s.",
		 command->damaged ? ", 3 " : "",
		 command->damaged ? command->damaged : "");
	fputc('\n', out);
	put_wrapped(out, codes, 0);
}

static void list_option(const char *command, const struct command_option *option,
			FILE *out)
{
	fprintf(out, "%s\t--%s\t", command, option->name);
	if (option->letter)
		fprintf(out, "-%c", option->letter);
	/* Shells offer no argument after an option that can do without. */
	fprintf(out, "\t%s\t",
		option->argument && !option->is_optional ? option->argument : "");
	for (unsigned int i = 0; option->word && option->word(i).word; i++)
		fprintf(out, "%s%s", i ? " " : "", option->word(i).word);
	fprintf(out, "\t%s\n", option->help ? option->help : "");
}

void command_list_options(const struct command *command, FILE *out)
{
	const struct option_group *group;
	const struct command_option *option;

	for (group = command->groups; group->options; group++)
		for (option = group->options; option->name; option++)
			list_option(command->name, option, out);
	list_option(command->name, &help_option, out);
}

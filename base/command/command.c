/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/command/command.h"

#include <assert.h>
#include <getopt.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"
#include "base/command/nearest.h"
#include "base/command/message.h"
#include "base/parse.h"

#define MAX_OPTIONS 64
/* First getopt_long() value of the options without a letter. */
#define LONG_ONLY 256

/* A command's tables in the form that getopt_long() takes. */
struct parser {
	const struct command *command;
	struct {
		const struct command_option *option;
		char *to;
	} known[MAX_OPTIONS];
	size_t count;
	struct option longs[MAX_OPTIONS + 2];
	char shorts[2 * MAX_OPTIONS + 3];
};

int option_set_true(void *to, const char *argument, struct error *err)
{
	(void)argument, (void)err;
	*(bool *)to = true;
	return 0;
}

int option_set_text(void *to, const char *argument, struct error *err)
{
	(void)err;
	*(const char **)to = argument;
	return 0;
}

int option_set_time(void *to, const char *argument, struct error *err)
{
	(void)err;
	return parse_time(argument, to);
}

int option_append(const char ***list, size_t *count, const char *argument)
{
	if (!array_grow(list, *count + 1, sizeof(**list)))
		return COMMAND_NO_MEMORY;
	(*list)[(*count)++] = argument;
	return 0;
}

static void add_option(struct parser *parser, const struct command_option *option,
		       char *to)
{
	size_t i = parser->count++;
	size_t used = strlen(parser->shorts);

	assert(i < MAX_OPTIONS);
	parser->known[i].option = option;
	parser->known[i].to = to + option->offset;
	parser->longs[i] = (struct option){
		.name = option->name,
		.has_arg = !option->argument	 ? no_argument
			   : option->is_optional ? optional_argument
						 : required_argument,
		.val = option->letter ? option->letter : LONG_ONLY + (int)i,
	};
	if (!option->letter)
		return;
	parser->shorts[used++] = option->letter;
	if (option->argument)
		parser->shorts[used] = ':';
}

static void parser_init(struct parser *parser, const struct command *command,
			void *options)
{
	const struct option_group *group;
	const struct command_option *option;

	*parser = (struct parser){.command = command, .shorts = ":h"};
	for (group = command->groups; group->options; group++)
		for (option = group->options; option->name; option++)
			add_option(parser, option, (char *)options + group->offset);
	parser->longs[parser->count] = (struct option){"help", no_argument, NULL, 'h'};
}

/* Reports an unknown option. @word is as typed: "--NAME" or "--NAME=ARGUMENT". */
static int refuse_unknown(const struct parser *parser, const char *word)
{
	char hint[NEAREST_HINT_SIZE];
	struct nearest nearest;

	nearest_start(&nearest, word + 2, strcspn(word + 2, "="));
	for (const struct option *known = parser->longs; known->name; known++)
		nearest_consider(&nearest, known->name);
	return usage_error(parser->command->name, "unknown option '%s'%s", word,
			   nearest_hint(&nearest, "--", hint));
}

/* Reports the error that getopt_long() returned ':' or '?' for. */
static int refuse_option(const struct parser *parser, int found, char **argv)
{
	const char *command = parser->command->name, *word = argv[optind - 1];

	if (found == ':')
		return usage_error(command, "option '%s' needs a value", word);
	if (!optopt)
		return refuse_unknown(parser, word);
	/* A known letter is never refused here, so the option was typed in its long
	 * form. */
	if (optopt >= LONG_ONLY || strchr(parser->shorts, optopt))
		return usage_error(command, "option '%s' takes no value", word);
	return usage_error(command, "unknown option '-%c'", optopt);
}

/* Returns the first word of the option whose description contains what was typed, in any
 * case; NULL if there is none. */
static const char *find_described(const struct command_option *option, const char *typed)
{
	struct option_word word;

	for (unsigned int i = 0; (word = option->word(i)).word; i++)
		if (word.about && strlen(typed) > 2 && strcasestr(word.about, typed))
			return word.word;
	return NULL;
}

static int refuse_word(const char *command, const struct command_option *option)
{
	char words[256] = "", hint[NEAREST_HINT_SIZE];
	struct nearest nearest;
	size_t used = 0;

	nearest_start(&nearest, optarg, strlen(optarg));
	for (unsigned int i = 0; option->word(i).word && used < sizeof(words); i++) {
		nearest_consider(&nearest, option->word(i).word);
		used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s",
					 i ? ", " : "", option->word(i).word);
	}
	if (!nearest.word)
		nearest.word = find_described(option, optarg);
	if (nearest.word)
		return usage_error(command, "unknown --%s '%s'%s", option->name, optarg,
				   nearest_hint(&nearest, "", hint));
	return usage_error(command, "unknown --%s '%s'; known: %s", option->name, optarg,
			   words);
}

/* Sets the option to optarg, if that is one of its words. */
static int take_word(const char *command, const struct command_option *option, char *to)
{
	struct option_word word;
	struct error err;
	unsigned int i = 0;

	if (option->words && strcmp(optarg, "help") == 0) {
		command_help_words(option, stdout);
		return EXIT_DONE;
	}
	while ((word = option->word(i)).word && strcmp(word.word, optarg) != 0)
		i++;
	if (!word.word)
		return refuse_word(command, option);
	if (option->set)
		option->set(to, optarg, &err);
	else
		*(unsigned int *)to = (unsigned int)word.value;
	return COMMAND_GO_ON;
}

static int take_option(const struct parser *parser, int found)
{
	const struct command_option *option;
	const char *command = parser->command->name;
	struct error err = {""};
	size_t i = 0;
	int status;

	while (parser->longs[i].val != found)
		i++;
	option = parser->known[i].option;
	if (option->word && !option->takes)
		return take_word(command, option, parser->known[i].to);
	if (!option->set) {
		*(unsigned int *)parser->known[i].to = (unsigned int)option->value;
		return COMMAND_GO_ON;
	}
	status = option->set(parser->known[i].to, optarg, &err);
	if (status == 0)
		return COMMAND_GO_ON;
	if (status == COMMAND_NO_MEMORY) {
		fprintf(stderr, "uniprof %s: out of memory\n", command);
		return EXIT_FAILED;
	}
	if (err.text[0])
		return optarg ? usage_error(command, "--%s '%s': %s", option->name,
					    optarg, err.text)
			      : usage_error(command, "--%s: %s", option->name, err.text);
	return usage_error(command, "--%s takes %s, not '%s'", option->name,
			   option->takes, optarg);
}

int command_parse(const struct command *command, int argc, char **argv, void *options,
		  char ***arguments)
{
	struct parser parser;
	int found, status;

	parser_init(&parser, command, options);
	opterr = 0;
	optind = 0; /* a command line may be parsed after another */
	while ((found = getopt_long(argc, argv, parser.shorts, parser.longs, NULL)) !=
	       -1) {
		if (found == 'h') {
			command_help(command, stdout);
			return EXIT_DONE;
		}
		if (found == '?' || found == ':')
			return refuse_option(&parser, found, argv);
		status = take_option(&parser, found);
		if (status != COMMAND_GO_ON)
			return status;
	}
	*arguments = argv + optind;
	if ((unsigned int)(argc - optind) <= command->most)
		return COMMAND_GO_ON;
	return usage_error(command->name, "unexpected argument '%s'",
			   (*arguments)[command->most]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/profile_options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

int profile_options_init(struct profile_options *options, const char *command, int argc)
{
	struct profile_rules *rules = &options->rules;

	*options = (struct profile_options){
		.rules =
			{
				.command = command,
				.states = MEASURE_ALL_STATES,
				.debug_directory = "/usr/lib/debug",
				.demangle = DEMANGLE_FULL,
			},
	};
	/* Each may be as many as there are words. */
	rules->inputs = calloc((size_t)argc + 1, sizeof(*rules->inputs));
	rules->symbols = calloc((size_t)argc + 1, sizeof(*rules->symbols));
	if (rules->inputs && rules->symbols)
		return 0;
	fprintf(stderr, "uniprof %s: not enough memory\n", command);
	return -1;
}

void profile_options_free(struct profile_options *options)
{
	struct profile_rules *rules = &options->rules;

	if (rules->filter.parent)
		regfree(&options->parent);
	if (rules->filter.symbol)
		regfree(&options->symbol);
	free(rules->inputs);
	free(rules->symbols);
}

int profile_options_input(struct profile_options *options, const char *path)
{
	struct profile_rules *rules = &options->rules;

	for (size_t i = 0; i < rules->input_count && strcmp(path, "-") == 0; i++)
		if (strcmp(rules->inputs[i], "-") == 0)
			return usage_error(rules->command,
					   "standard input can be one recording only");
	rules->inputs[rules->input_count++] = path;
	return PROFILE_GO_ON;
}

/* Words that an option takes, and the numbers that they stand for. */
struct word {
	const char *word;
	int value;
};

static const struct word weights[] = {
	{"samples", MEASURE_SAMPLES},
	{"cpu-time", MEASURE_CPU_TIME},
	{"wall", MEASURE_WALL},
	{0},
};

static const struct word states[] = {
	{"running", MEASURE_RUNNING},
	{"runnable", MEASURE_RUNNABLE},
	{"blocked", MEASURE_BLOCKED},
	{"all", MEASURE_ALL_STATES},
	{0},
};

/* PROFILE_GO_ON and the value of optarg, or the exit code. */
static int choose_word(const char *command, const struct word *words, const char *option,
		       int *value)
{
	char list[80] = "";
	size_t used = 0;

	for (const struct word *w = words; w->word; w++) {
		if (strcmp(w->word, optarg) == 0) {
			*value = w->value;
			return PROFILE_GO_ON;
		}
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
					 used ? ", " : "", w->word);
	}
	return usage_error(command, "no %s '%s'; there are %s", option, optarg, list);
}

static int choose_vcpus(struct profile_options *options)
{
	if (parse_list(optarg, options->vcpus, RECORDING_MAX_VCPU + 1) < 0)
		return usage_error(options->rules.command,
				   "--vcpu takes numbers and ranges up to %d, as in "
				   "0,2-5, not '%s'",
				   RECORDING_MAX_VCPU, optarg);
	options->rules.vcpus = options->vcpus;
	return PROFILE_GO_ON;
}

static int choose_window(struct profile_options *options)
{
	if (window_parse(optarg, &options->rules.window) == 0)
		return PROFILE_GO_ON;
	return usage_error(options->rules.command,
			   "--time takes FROM,TO, in seconds or per cent, as in 1.5,3 or "
			   "10%%,20%%, not '%s'",
			   optarg);
}

/* Sets one of the rules to optarg as a POSIX extended regular expression. */
static int choose_regex(const struct profile_options *options, const char *name,
			regex_t *regex, const regex_t **rule)
{
	char why[128];
	int code;

	if (*rule) { /* given twice: the last one counts */
		regfree(regex);
		*rule = NULL;
	}
	code = regcomp(regex, optarg, REG_EXTENDED | REG_NOSUB);
	if (code == 0) {
		*rule = regex;
		return PROFILE_GO_ON;
	}
	regerror(code, regex, why, sizeof(why));
	return usage_error(options->rules.command, "%s '%s' is no regular expression: %s",
			   name, optarg, why);
}

static int choose_depth(struct profile_options *options)
{
	uint64_t depth;

	if (parse_number(optarg, 1, RECORDING_MAX_DEPTH, &depth) < 0)
		return usage_error(options->rules.command,
				   "--max-depth takes a number from 1 to %d, not '%s'",
				   RECORDING_MAX_DEPTH, optarg);
	options->rules.filter.max_depth = (uint32_t)depth;
	return PROFILE_GO_ON;
}

int profile_options_take(struct profile_options *options, int option, const char *shorts,
			 char **argv)
{
	struct profile_rules *rules = &options->rules;
	int status, value = 0;

	switch (option) {
	case 's':
		rules->symbols[rules->symbol_count++] = optarg;
		return PROFILE_GO_ON;
	case 'v':
		rules->verbose = true;
		return PROFILE_GO_ON;
	case PROFILE_SYMFS:
		rules->symfs = optarg;
		return PROFILE_GO_ON;
	case PROFILE_DEBUG_DIR:
		rules->debug_directory = optarg;
		return PROFILE_GO_ON;
	case PROFILE_DEMANGLE:
	case PROFILE_NO_DEMANGLE:
		rules->demangle = option == PROFILE_DEMANGLE ? DEMANGLE_FULL
							     : DEMANGLE_NOT;
		return PROFILE_GO_ON;
	case PROFILE_SRCLINE:
		rules->srcline = true;
		return PROFILE_GO_ON;
	case PROFILE_INLINE:
		rules->inlined = true;
		return PROFILE_GO_ON;
	case PROFILE_WEIGHT:
		status = choose_word(rules->command, weights, "--weight", &value);
		rules->weight = (enum measure_weight)value;
		return status;
	case PROFILE_STATE:
		status = choose_word(rules->command, states, "--state", &value);
		rules->states = (enum measure_states)value;
		return status;
	case PROFILE_DOMAIN:
		rules->domains = optarg;
		return PROFILE_GO_ON;
	case PROFILE_VCPU:
		return choose_vcpus(options);
	case PROFILE_TIME:
		return choose_window(options);
	case PROFILE_PARENT:
		return choose_regex(options, "--parent", &options->parent,
				    &rules->filter.parent);
	case PROFILE_SYMBOL_FILTER:
		return choose_regex(options, "--symbol-filter", &options->symbol,
				    &rules->filter.symbol);
	case PROFILE_MAX_DEPTH:
		return choose_depth(options);
	default:
		return usage_bad_option(rules->command, option, shorts, argv);
	}
}

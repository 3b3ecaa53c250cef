/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/commands.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/command/message.h"
#include "base/command/usage.h"
#include "base/text.h"
#include "commands/child.h"
#include "commands/open.h"
#include "commands/xl.h"
#include "record/options.h"
#include "report/model/sources.h"
#include "commands/report/options.h"
#include "report/report.h"
#include "tables/program_table.h"

/* A command line that is being made. */
struct words {
	char **word; /* ends with NULL */
	size_t count;
};

/* The options are passed to record and report as they were given. */
struct options {
	const char *frequency, *time, *max_overhead, *output, *config, *gdb;
	struct words symbols;
	bool force, verbose;
};

/* One run of the command. The paths are in memory that is freed at its end. */
struct run {
	const struct command *command;
	const struct options *options;
	const char *domain;
	char config_name[XL_NAME_SIZE];
	char *folder, *data, *svg, *folded;
	struct words record, report_svg, report_folded;
	struct children children;
};

/* -1 if out of memory. */
static int add_word(struct words *words, const char *word)
{
	if (!array_grow(&words->word, words->count + 2, sizeof(*words->word)))
		return -1;
	words->word[words->count++] = (char *)word;
	words->word[words->count] = NULL;
	return 0;
}

/* Adds the words of @list, which ends with NULL. -1 if out of memory. */
static int add_words(struct words *words, const char *const *list)
{
	int status = 0;

	while (*list && status == 0)
		status = add_word(words, *list++);
	return status;
}

#define ADD(words, ...) add_words(words, (const char *const[]){__VA_ARGS__, NULL})

static int add_option(struct words *words, const char *option, const char *value)
{
	return value ? ADD(words, option, value) : 0;
}

static int add_symbols(void *to, const char *argument, struct error *err)
{
	struct options *options = to;

	(void)err;
	return add_word(&options->symbols, argument) < 0 ? COMMAND_NO_MEMORY : 0;
}

static const struct command_option known[] = {
	{"freq", 'F', "HZ", "rounds of samples per second, 1 to 10000 (default: 99)",
	 .set = option_set_text, .offset = offsetof(struct options, frequency)},
	{"time", 'T', "SECONDS", "stop after this time, such as 10 or 2.5",
	 .set = option_set_text, .offset = offsetof(struct options, time)},
	{"symbols", 's', "FILE[@OFFSET]",
	 "symbol file for the guest; an ELF file is also used to unwind code without "
	 "frame pointers; can be repeated",
	 .set = add_symbols},
	{"max-overhead", 0, "PERCENT",
	 "limit the share of time that the guest is paused, by lowering the rate "
	 "(default: 5)",
	 .set = option_set_text, .offset = offsetof(struct options, max_overhead)},
	{"output", 'o', "DIR", "folder to write to (default: uniprof-DOMAIN)",
	 .set = option_set_text, .offset = offsetof(struct options, output)},
	{"gdb", 0, "ADDRESS", GDB_HELP, .set = open_set_gdb,
	 .offset = offsetof(struct options, gdb)},
	{"config", 0, "FILE",
	 "xl configuration of the guest: if the guest does not run, start it, and "
	 "destroy "
	 "it afterwards",
	 .set = option_set_text, .offset = offsetof(struct options, config)},
	{"force", 0, NULL, FORCE_HELP, .set = option_set_true,
	 .offset = offsetof(struct options, force)},
	{"verbose", 'v', NULL, "show details, as record and report do",
	 .set = option_set_true, .offset = offsetof(struct options, verbose)},
	{0},
};

static const struct option_group groups[] = {
	{"Options", known, 0},
	{0},
};

/* Whether record can unwind by the file; if not, it only has names. */
static bool has_table(const char *spec)
{
	struct error why;

	if (program_table_is_possible(spec, &why))
		return true;
	message("flamegraph", "unwinding by frame pointers: %s", why.text);
	return false;
}

static int name_files(struct run *run)
{
	char name[XL_NAME_SIZE];

	text_word(name, sizeof(name), run->domain);
	run->folder = run->options->output ? strdup(run->options->output) : NULL;
	if (!run->options->output && asprintf(&run->folder, "uniprof-%s", name) < 0)
		run->folder = NULL;
	if (!run->folder)
		return -1;
	if (asprintf(&run->data, "%s/%s.data", run->folder, name) < 0)
		run->data = NULL;
	if (asprintf(&run->svg, "%s/%s.svg", run->folder, name) < 0)
		run->svg = NULL;
	if (asprintf(&run->folded, "%s/%s.folded", run->folder, name) < 0)
		run->folded = NULL;
	return run->data && run->svg && run->folded ? 0 : -1;
}

static int make_report(const struct run *run, struct words *words, const char *format,
		       const char *path)
{
	const struct options *options = run->options;

	if (ADD(words, "report", "-i", run->data, "--format", format, "-o", path) < 0)
		return -1;
	for (size_t i = 0; i < options->symbols.count; i++)
		if (ADD(words, "-s", options->symbols.word[i]) < 0)
			return -1;
	return options->verbose ? add_word(words, "-v") : 0;
}

/* Makes the command lines. -1 if out of memory. */
static int make_steps(struct run *run)
{
	const struct options *options = run->options;
	struct words *record = &run->record;

	if (name_files(run) < 0 || ADD(record, "record") < 0 ||
	    add_option(record, "-F", options->frequency) < 0 ||
	    add_option(record, "-T", options->time) < 0 ||
	    add_option(record, "--max-overhead", options->max_overhead) < 0)
		return -1;
	for (size_t i = 0; i < options->symbols.count; i++)
		if (has_table(options->symbols.word[i]) &&
		    ADD(record, "-s", options->symbols.word[i]) < 0)
			return -1;
	if ((options->force && add_word(record, "--force") < 0) ||
	    (options->verbose && add_word(record, "-v") < 0) ||
	    ADD(record, "-o", run->data, options->gdb ? "--gdb" : "--", run->domain) < 0)
		return -1;
	if (make_report(run, &run->report_svg, "flamegraph", run->svg) < 0 ||
	    make_report(run, &run->report_folded, "folded", run->folded) < 0)
		return -1;
	return 0;
}

/* Reads the symbol files as report will. */
static int check_symbols(const struct words *symbols)
{
	struct sources sources = {0};
	struct error err;
	int status = 0;

	for (size_t i = 0; i < symbols->count && status == 0; i++)
		status = sources_add(&sources, symbols->word[i], &err);
	sources_free(&sources);
	if (status == 0)
		return COMMAND_GO_ON;
	message("flamegraph", "%s", err.text);
	return EXIT_FAILED;
}

/* Checks the options as record and report will, before anything is started. */
static int check_steps(const struct run *run)
{
	struct command checked = *run->command;
	struct record_options record;
	struct report_options report;
	int status;

	checked.most = COMMAND_ANY;
	checked.groups = record_option_groups;
	status = record_options_read(&checked, (int)run->record.count, run->record.word,
				     &record);
	record_options_free(&record);
	if (status != COMMAND_GO_ON)
		return status;
	checked.groups = report_option_groups;
	status = report_options_parse(&report, &checked, (int)run->report_svg.count,
				      run->report_svg.word);
	report_options_free(&report);
	return status;
}

/* Finds the guest's name in the configuration, if there is one. */
static int find_domain(struct run *run, char **arguments)
{
	const char *config = run->options->config, *name = run->command->name;
	const char *gdb = run->options->gdb;
	struct error err;

	if (gdb && (config || arguments[0]))
		return usage_error(name,
				   "--gdb has a single guest: no domain or --config");
	run->domain = gdb ? gdb : arguments[0];
	if (!config && !run->domain)
		return usage_error(name, "no domain given");
	if (!config)
		return COMMAND_GO_ON;
	if (xl_config_name(config, run->config_name, &err) < 0) {
		message(name, "%s", err.text);
		return EXIT_FAILED;
	}
	if (run->domain && strcmp(run->domain, run->config_name) != 0)
		return usage_error(name, "%s is the configuration of '%s', not of '%s'",
				   config, run->config_name, run->domain);
	run->domain = run->config_name;
	return COMMAND_GO_ON;
}

/* Starts the guest unless it runs: sets @started. */
static int start_guest(struct run *run, bool *started, struct error *err)
{
	int status;

	*started = false;
	if (!run->options->config)
		return 0;
	status = xl_exists(&run->children, run->domain, err);
	if (status != 0)
		return status < 0 ? -1 : 0;
	message("flamegraph", "starting '%s'", run->domain);
	if (xl_create(&run->children, run->options->config, err) < 0)
		return -1;
	*started = true;
	return 0;
}

/* It may have ended by itself. */
static int end_guest(struct run *run, struct error *err)
{
	int status = xl_exists(&run->children, run->domain, err);

	if (status <= 0)
		return status;
	message("flamegraph", "destroying '%s'", run->domain);
	return xl_destroy(&run->children, run->domain, err);
}

static int record(struct run *run)
{
	struct error err;
	bool started;
	int code = EXIT_FAILED;

	children_hold(&run->children);
	if (start_guest(run, &started, &err) < 0)
		message("flamegraph", "%s", err.text);
	else if (!run->children.interrupted)
		code = child_command(&run->children, &command_record, run->record.word,
				     false);
	if (started && end_guest(run, &err) < 0) {
		message("flamegraph", "%s", err.text);
		code = EXIT_FAILED;
	}
	children_release(&run->children);
	return code;
}

/* Both reports print the same notes. */
static int report(struct run *run)
{
	int code, other;

	children_hold(&run->children);
	code = child_command(&run->children, &command_report, run->report_svg.word,
			     false);
	if (code == EXIT_DONE || code == EXIT_DAMAGED) {
		other = child_command(&run->children, &command_report,
				      run->report_folded.word, true);
		if (other != code) {
			message("flamegraph", "can't write %s", run->folded);
			code = EXIT_FAILED;
		}
	}
	children_release(&run->children);
	return code;
}

static void say_where(const struct run *run)
{
	static const char *const what[] = {
		"the flame graph, for a web browser",
		"collapsed stacks",
		"the recording, for other reports",
	};
	const char *const path[] = {run->svg, run->folded, run->data};

	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
		char *whole = realpath(path[i], NULL);

		printf("%s  %s\n", whole ? whole : path[i], what[i]);
		free(whole);
	}
}

static int run_steps(struct run *run)
{
	bool is_new;
	int code;

	code = check_symbols(&run->options->symbols);
	if (code != COMMAND_GO_ON)
		return code;
	if (make_steps(run) < 0) {
		message("flamegraph", "out of memory");
		return EXIT_FAILED;
	}
	code = check_steps(run);
	if (code != COMMAND_GO_ON)
		return code;
	is_new = mkdir(run->folder, 0777) == 0;
	if (!is_new && errno != EEXIST) {
		message("flamegraph", "can't create the folder %s: %s", run->folder,
			strerror(errno));
		return EXIT_FAILED;
	}
	code = record(run);
	if (code != EXIT_DONE && is_new)
		rmdir(run->folder); /* unless there is something in it */
	if (code == EXIT_DONE)
		code = report(run);
	if (code == EXIT_DONE || code == EXIT_DAMAGED)
		say_where(run);
	return code;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	struct options options = {0};
	struct run run = {.command = command, .options = &options};
	char **arguments;
	int status = command_parse(command, argc, argv, &options, &arguments);

	if (status == COMMAND_GO_ON)
		status = find_domain(&run, arguments);
	if (status == COMMAND_GO_ON)
		status = run_steps(&run);
	free(options.symbols.word);
	free(run.record.word);
	free(run.report_svg.word);
	free(run.report_folded.word);
	free(run.folder);
	free(run.data);
	free(run.svg);
	free(run.folded);
	return status;
}

const struct command command_flamegraph = {
	.name = "flamegraph",
	.arguments = "[DOMAIN]",
	.most = 1,
	.summary = "record a domain and draw its flame graph, in one step",
	.about = "Records a Xen domain or a KVM guest, given by name or id, as record "
		 "does, "
		 "until the time limit is reached or Ctrl-C is pressed. Then writes a "
		 "flame graph (DOMAIN.svg) and collapsed stacks (DOMAIN.folded), as "
		 "report "
		 "does, beside the recording (DOMAIN.data).",
	.damaged = "the recording is damaged, and what could be read was reported",
	.groups = groups,
	.run = run_command,
};

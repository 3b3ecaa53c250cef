/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/command/message.h"
#include "base/text.h"
#include "commands/child.h"
#include "commands/open.h"
#include "commands/record_options.h"
#include "commands/report/options.h"
#include "commands/words.h"
#include "commands/xl.h"
#include "report/model/sources.h"
#include "tables/program_table.h"

/* The options, which are passed to record and report as they were given. */
struct flamegraph_options {
	const char *frequency, *time, *max_overhead, *output, *config, *gdb;
	const char *call_graph, *weight, *state, *title;
	struct words symbols;
	bool inlined, per_process, waits, force, no_find, verbose;
};

/* The reports, in the order in which they are made and printed. */
static const struct {
	const char *format, *suffix, *about;
	bool lacks_title, of_waits;
} reports[] = {
	{"flamegraph", "svg", "the flame graph, for a web browser", .lacks_title = false},
	{"html", "html", "all of the recording in one page, for a web browser",
	 .lacks_title = false},
	{"folded", "folded", "collapsed stacks", .lacks_title = true},
	{"flamegraph", "waits.svg", "what threads waited for, as a flame graph",
	 .of_waits = true},
};
#define REPORTS (sizeof(reports) / sizeof(reports[0]))

/* One run of the command. */
struct flamegraph {
	const struct command *command;
	const struct flamegraph_options *options;
	const char *domain;
	char config_name[XL_NAME_SIZE];	      /* name of the guest in its configuration */
	char *folder, *data, *path[REPORTS];  /* of the files; owned */
	struct words record, report[REPORTS]; /* command lines */
	struct children children;
};

static int add_symbols(void *to, const char *argument, struct error *err)
{
	struct flamegraph_options *options = to;

	(void)err;
	words_add(&options->symbols, argument);
	return options->symbols.is_cut ? COMMAND_NO_MEMORY : 0;
}

static const struct command_option known[] = {
	{"freq", 'F', "HZ", "rounds of samples per second, 1 to 10000 (default: 99)",
	 .set = option_set_text,
	 .offset = offsetof(struct flamegraph_options, frequency)},
	{"time", 'T', "SECONDS", "stop after this time, such as 10, 2.5 or 5m",
	 .set = option_set_text, .offset = offsetof(struct flamegraph_options, time)},
	{"symbols", 's', "FILE[@OFFSET]",
	 "symbol file for the guest; an ELF file is also used to unwind code without "
	 "frame pointers; can be repeated",
	 .set = add_symbols},
	{"max-overhead", 0, "PERCENT",
	 "limit the share of time that the guest is paused, by lowering the rate "
	 "(default: 5)",
	 .set = option_set_text,
	 .offset = offsetof(struct flamegraph_options, max_overhead)},
	{"call-graph", 0, "WAY", "how to find callers, as in record",
	 .set = option_set_text,
	 .offset = offsetof(struct flamegraph_options, call_graph)},
	{"inline", 0, NULL, "show inlined functions as callees (needs -s, and DWARF)",
	 .set = option_set_true, .offset = offsetof(struct flamegraph_options, inlined)},
	{"weight", 0, "WHAT", "weight of a sample, as in report", .set = option_set_text,
	 .offset = offsetof(struct flamegraph_options, weight)},
	{"state", 0, "STATE", "only samples of vCPUs in this state, as in report",
	 .set = option_set_text, .offset = offsetof(struct flamegraph_options, state)},
	{"per-process", 0, NULL, "tell the processes of a guest apart, as in report",
	 .set = option_set_true,
	 .offset = offsetof(struct flamegraph_options, per_process)},
	{"waits", 0, NULL,
	 "also record what a Linux guest's threads wait for, and draw that by time",
	 .set = option_set_true, .offset = offsetof(struct flamegraph_options, waits)},
	{"title", 0, "TEXT", "title of the flame graph and the page",
	 .set = option_set_text, .offset = offsetof(struct flamegraph_options, title)},
	{"output", 'o', "DIR", "folder to write to (default: uniprof-DOMAIN)",
	 .set = option_set_text, .offset = offsetof(struct flamegraph_options, output)},
	{"gdb", 0, "ADDRESS", GDB_HELP, .set = open_set_gdb,
	 .offset = offsetof(struct flamegraph_options, gdb)},
	{"config", 0, "FILE",
	 "xl configuration of the guest: if the guest does not run, start it, and "
	 "destroy "
	 "it afterwards",
	 .set = option_set_text, .offset = offsetof(struct flamegraph_options, config)},
	{"no-find", 0, NULL, NO_FIND_HELP, .set = option_set_true,
	 .offset = offsetof(struct flamegraph_options, no_find)},
	{"force", 0, NULL, FORCE_HELP, .set = option_set_true,
	 .offset = offsetof(struct flamegraph_options, force)},
	{"verbose", 'v', NULL, "show details, as record and report do",
	 .set = option_set_true, .offset = offsetof(struct flamegraph_options, verbose)},
	{0},
};

static const struct option_group groups[] = {
	{"Options", known, 0},
	{0},
};

/* Whether record can unwind by the file; says so if the file only has names. */
static bool is_wanted(const struct flamegraph *run, size_t report)
{
	return run->options->waits || !reports[report].of_waits;
}

static bool has_table(const char *spec)
{
	struct error why;

	if (program_table_is_possible(spec, &why))
		return true;
	message("flamegraph", "unwinding by frame pointers: %s", why.text);
	return false;
}

/* Sets the paths. -1 if out of memory. */
static int name_files(struct flamegraph *run)
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
	for (size_t i = 0; i < REPORTS && run->data; i++) {
		if (asprintf(&run->path[i], "%s/%s.%s", run->folder, name,
			     reports[i].suffix) < 0) {
			run->path[i] = NULL;
			return -1;
		}
	}
	return run->data ? 0 : -1;
}

/* Whether record uses ELF files: not with --call-graph fp or stack. */
static bool takes_files(const struct flamegraph_options *options)
{
	return !options->call_graph || (strcmp(options->call_graph, "fp") != 0 &&
					strncmp(options->call_graph, "stack", 5) != 0);
}

static void make_record(struct flamegraph *run)
{
	const struct flamegraph_options *options = run->options;
	struct words *words = &run->record;
	bool has_files = false;

	words_add(words, "record");
	words_add_option(words, "-F", options->frequency);
	words_add_option(words, "-T", options->time);
	words_add_option(words, "--max-overhead", options->max_overhead);
	words_add_option(words, "--call-graph", options->call_graph);
	for (size_t i = 0; i < options->symbols.count && takes_files(options); i++) {
		if (!has_table(options->symbols.word[i]))
			continue;
		words_add_option(words, "-s", options->symbols.word[i]);
		has_files = true;
	}
	words_add_flag(words, "--inline", options->inlined && has_files);
	words_add_flag(words, "--waits", options->waits);
	words_add_flag(words, "--no-find", options->no_find || options->symbols.count);
	words_add_flag(words, "--force", options->force);
	words_add_flag(words, "-v", options->verbose);
	words_add_option(words, "-o", run->data);
	words_add_option(words, options->gdb ? "--gdb" : "--", run->domain);
}

/* Makes the command line of a report, by its number. */
static void make_report(struct flamegraph *run, size_t report)
{
	const struct flamegraph_options *options = run->options;
	struct words *words = &run->report[report];

	words_add(words, "report");
	words_add_option(words, "-i", run->data);
	words_add_option(words, "--format", reports[report].format);
	words_add_option(words, "-o", run->path[report]);
	if (!reports[report].lacks_title)
		words_add_option(words, "--title", options->title);
	for (size_t i = 0; i < options->symbols.count; i++)
		words_add_option(words, "-s", options->symbols.word[i]);
	words_add_flag(words, "--inline", options->inlined);
	words_add_option(words, "--weight",
			 reports[report].of_waits ? "wait" : options->weight);
	if (!reports[report].of_waits)
		words_add_option(words, "--state", options->state);
	words_add_flag(words, "--per-process", options->per_process);
	words_add_flag(words, "-v", options->verbose);
}

/* Makes the command lines. -1 if out of memory. */
static int make_steps(struct flamegraph *run)
{
	if (name_files(run) < 0)
		return -1;
	make_record(run);
	for (size_t i = 0; i < REPORTS; i++) {
		make_report(run, i);
		if (run->report[i].is_cut)
			return -1;
	}
	return run->record.is_cut ? -1 : 0;
}

/* Reads the symbol files as report will. Returns COMMAND_GO_ON, or the exit code with the
 * error printed. */
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

/* Checks the options as record and report will, before anything is started. Returns
 * COMMAND_GO_ON, or the exit code with the error printed. */
static int check_steps(const struct flamegraph *run)
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
	status = report_options_parse(&report, &checked, (int)run->report[0].count,
				      run->report[0].word);
	report_options_free(&report);
	return status;
}

/* Whether @path looks like one of the files that are written, and is no folder: the name
 * of the picture is what other tools take. */
static bool is_file_name(const char *path)
{
	static const char *const ends[] = {".svg", ".html", ".folded", ".data"};
	const char *end = strrchr(path, '.');
	struct stat status;

	for (size_t i = 0; end && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(end, ends[i]) == 0)
			return stat(path, &status) < 0 || !S_ISDIR(status.st_mode);
	return false;
}

/* Sets the guest: the argument, a GDB stub, or what the configuration names. Returns
 * COMMAND_GO_ON, or the exit code with the error printed. */
static int find_domain(struct flamegraph *run, char **arguments)
{
	const char *config = run->options->config, *name = run->command->name;
	const char *gdb = run->options->gdb, *output = run->options->output;
	struct error err;

	if (output && is_file_name(output))
		return usage_error(name, "--output takes a folder, not '%s'", output);
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

/* Starts the guest if it has a configuration and does not run. Sets @started. -1 with
 * @err set on failure. */
static int start_guest(struct flamegraph *run, bool *started, struct error *err)
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

/* Destroys the guest unless it has ended by itself. -1 with @err set on failure. */
static int end_guest(struct flamegraph *run, struct error *err)
{
	int status = xl_exists(&run->children, run->domain, err);

	if (status <= 0)
		return status;
	message("flamegraph", "destroying '%s'", run->domain);
	return xl_destroy(&run->children, run->domain, err);
}

/* Records the guest, which runs only for that if it has a configuration. Returns the exit
 * code. */
static int run_record(struct flamegraph *run)
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

/* Writes the reports. Returns the exit code. */
static int run_reports(struct flamegraph *run)
{
	int code = EXIT_DONE, other;

	children_hold(&run->children);
	for (size_t i = 0; i < REPORTS && code != EXIT_FAILED; i++) {
		if (!is_wanted(run, i))
			continue;
		/* Quiet, once the first report has printed the notes; that of waits has
		 * its own. */
		other = child_command(&run->children, &command_report,
				      run->report[i].word, i > 0 && !reports[i].of_waits);
		if (i == 0)
			code = other;
		if (code != EXIT_DONE && code != EXIT_DAMAGED)
			break;
		if (other == code)
			continue;
		message("flamegraph", "can't write %s", run->path[i]);
		code = EXIT_FAILED;
	}
	children_release(&run->children);
	return code;
}

static void print_file(const char *path, const char *about)
{
	char *whole = realpath(path, NULL);

	printf("%s  %s\n", whole ? whole : path, about);
	free(whole);
}

/* Prints where the files are. */
static void print_files(const struct flamegraph *run)
{
	for (size_t i = 0; i < REPORTS; i++)
		if (is_wanted(run, i))
			print_file(run->path[i], reports[i].about);
	print_file(run->data, "the recording, for other reports");
}

static int run_steps(struct flamegraph *run)
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
	code = run_record(run);
	if (code != EXIT_DONE && is_new)
		rmdir(run->folder); /* fails unless the folder is empty */
	if (code == EXIT_DONE)
		code = run_reports(run);
	if (code == EXIT_DONE || code == EXIT_DAMAGED)
		print_files(run);
	return code;
}

static int flamegraph_command(const struct command *command, int argc, char **argv)
{
	struct flamegraph_options options = {0};
	struct flamegraph run = {
		.command = command,
		.options = &options,
		.children.command = command->name,
	};
	char **arguments;
	int status = command_parse(command, argc, argv, &options, &arguments);

	if (status == COMMAND_GO_ON)
		status = find_domain(&run, arguments);
	if (status == COMMAND_GO_ON)
		status = run_steps(&run);
	words_free(&options.symbols);
	words_free(&run.record);
	for (size_t i = 0; i < REPORTS; i++) {
		words_free(&run.report[i]);
		free(run.path[i]);
	}
	free(run.folder);
	free(run.data);
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
		 "flame graph (DOMAIN.svg), a page that shows everything (DOMAIN.html) "
		 "and collapsed stacks (DOMAIN.folded), as "
		 "report "
		 "does, beside the recording (DOMAIN.data).",
	.damaged = "the recording is damaged, and what could be read was reported",
	.groups = groups,
	.run = flamegraph_command,
};

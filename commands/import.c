/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/text.h"
#include "base/version.h"
#include "import/format.h"

struct options {
	const char *input, *output;
	const struct import_format *format; /* NULL: detect it */
	struct import_options import;
};

/* The outcome of an import. */
struct outcome {
	struct import_result result;
	struct import_weights weights;
	uint64_t count; /* number of samples */
	enum importer_state state;
};

static struct option_word format_word(unsigned int i)
{
	const struct import_format *format = import_format_list()[i];

	return format ? (struct option_word){format->name, format->about, 0}
		      : (struct option_word){0};
}

static int set_format(void *to, const char *argument, struct error *err)
{
	(void)err;
	*(const struct import_format **)to = import_format_find(argument);
	return 0;
}

static const struct command_option known[] = {
	{"from", 'f', "FORMAT", "format of the input, see below (default: detected)",
	 .word = format_word, .words = "Formats", .set = set_format,
	 .offset = offsetof(struct options, format)},
	{"event", 0, "NAME", "event to import from perf script (default: the first)",
	 .set = option_set_text, .offset = offsetof(struct options, import.event)},
	{"output", 'o', "FILE",
	 "write the recording to FILE (default: uniprof.data; - for standard output); "
	 "an existing recording is kept as FILE.old",
	 .set = option_set_text, .offset = offsetof(struct options, output)},
	{0},
};

static const struct option_group groups[] = {
	{"Options", known, 0},
	{0},
};

static void describe_recording(struct recording_info *info, const struct options *options)
{
	*info = (struct recording_info){
		.version = RECORDING_VERSION_LARGE_WEIGHTS,
		.tool = "uniprof " UNIPROF_VERSION,
	};
	snprintf(info->command, sizeof(info->command), "uniprof import --from %s %s",
		 options->format->name, options->input);
}

static int import_text(const struct options *options, struct lines *lines, int fd,
		       struct outcome *outcome, struct error *err)
{
	struct recording_info info;
	struct importer *importer;
	int status;

	describe_recording(&info, options);
	importer = importer_new(fd, &info);
	if (!importer)
		return error_set(err, "out of memory");
	status = import_lines(options->format, &options->import, lines, importer,
			      &outcome->result, err);
	outcome->count = importer_count(importer);
	outcome->weights = importer_weights(importer);
	outcome->state = importer_state(importer);
	importer_free(importer);
	return status;
}

static void print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a line on standard error. */
static void print_line(const char *format, ...)
{
	char text[sizeof(struct error)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text_make_printable(text);
	fprintf(stderr, "uniprof import: %s\n", text);
}

static int open_input(const struct options *options, struct lines *lines,
		      struct error *err)
{
	int fd = STDIN_FILENO;

	if (strcmp(options->input, "-") != 0)
		fd = open(options->input, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, errno, "can't open");
	if (isatty(fd))
		print_line("reading from the terminal; end the input with Ctrl-D");
	if (lines_init(lines, fd) < 0)
		return error_set(err, "out of memory");
	return 0;
}

static void close_input(struct lines *lines)
{
	if (lines->fd > STDIN_FILENO)
		close(lines->fd);
	lines_free(lines);
}

static void print_weights(const struct import_weights *weights)
{
	if (!weights->by_period)
		return;
	if (weights->periods == IMPORT_CPU_NS && weights->unit == 1000)
		print_line("note: samples are weighted by period, in us of CPU time");
	else if (weights->unit > 1)
		print_line("note: samples are weighted by period, in units of %" PRIu64
			   "%s",
			   weights->unit,
			   weights->periods == IMPORT_CPU_NS ? " ns of CPU time" : "");
	else
		print_line("note: samples are weighted by period");
}

/* Reports what was imported and what was not. */
static int print_result(const struct options *options, const struct outcome *outcome,
			const char *name)
{
	const struct import_result *result = &outcome->result;

	print_line("%" PRIu64 " samples from %s (%s)%s", outcome->count, name,
		   options->format->name,
		   result->is_cut ? "; skipped an incomplete one at the end" : "");
	if (result->note.text[0])
		print_line("note: %s", result->note.text);
	print_weights(&outcome->weights);
	if (result->skipped)
		print_line("skipped %" PRIu64 " line%s; the first is %s", result->skipped,
			   result->skipped == 1 ? "" : "s", result->first.text);
	if (result->stopped.text[0])
		print_line("stopped at %s; the lines before it were imported",
			   result->stopped.text);
	return result->is_cut || result->skipped || result->stopped.text[0] ? EXIT_DAMAGED
									    : EXIT_DONE;
}

/* Whether the output is the input file. Checked before the input is read. */
static bool is_input(const struct options *options, const struct lines *lines)
{
	struct stat st;

	return fstat(lines->fd, &st) == 0 && replace_changes(options->output, &st);
}

static bool is_stdout(const struct options *options)
{
	return strcmp(options->output, "-") == 0;
}

static int open_output(const struct options *options, struct replace *output,
		       struct error *err)
{
	if (is_stdout(options) && isatty(STDOUT_FILENO))
		return error_set(err, "refusing to write a recording to a terminal");
	/* Keeps an older recording under another name, like uniprof record. */
	return replace_open(output, options->output, 0600, true, err);
}

/*
 * Checks the options against the input, and detects its format if necessary. EXIT_DONE;
 * otherwise the exit code, with @err set. *@culprit is the input, and becomes NULL if
 * @err doesn't need it.
 */
static int check_input(struct options *options, struct lines *lines, const char **culprit,
		       struct error *err)
{
	if (is_input(options, lines)) {
		error_set(err, "refusing to overwrite %s: it is the input %s",
			  options->output, *culprit);
		*culprit = NULL;
		return EXIT_USAGE;
	}
	if (!options->format)
		options->format = import_format_recognize(lines, err);
	if (!options->format)
		return EXIT_FAILED;
	if (options->import.event && !options->format->has_events) {
		error_set(err, "--event does not apply to the format %s",
			  options->format->name);
		*culprit = NULL;
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

static int import_run(struct options *options)
{
	bool from_stdin = strcmp(options->input, "-") == 0;
	const char *name = from_stdin ? "standard input" : options->input;
	const char *output_name = is_stdout(options) ? "standard output"
						     : options->output;
	/* The file that an error is about; NULL if @err names it. */
	const char *culprit = name;
	struct replace output = {.fd = -1};
	struct lines lines = {.fd = -1};
	struct outcome outcome = {0};
	int exit_code = EXIT_FAILED;
	struct error err;

	if (open_input(options, &lines, &err) < 0)
		goto out;
	exit_code = check_input(options, &lines, &culprit, &err);
	if (exit_code != EXIT_DONE)
		goto out;
	exit_code = EXIT_FAILED;
	culprit = NULL;
	if (open_output(options, &output, &err) < 0)
		goto out;
	if (import_text(options, &lines, output.fd, &outcome, &err) < 0) {
		culprit = outcome.state == IMPORTER_NO_MEMORY	 ? NULL
			  : outcome.state == IMPORTER_UNWRITABLE ? output_name
								 : name;
		goto out;
	}
	if (replace_commit(&output, &err) < 0)
		goto out;
	exit_code = print_result(options, &outcome, name);
out:
	if (exit_code == EXIT_FAILED || exit_code == EXIT_USAGE)
		print_line("%s%s%s", culprit ? culprit : "", culprit ? ": " : "",
			   err.text);
	replace_abandon(&output);
	close_input(&lines);
	return exit_code;
}

static int import_command(const struct command *command, int argc, char **argv)
{
	struct options options = {.input = "-", .output = "uniprof.data"};
	char **input;
	int status = command_parse(command, argc, argv, &options, &input);

	if (status != COMMAND_GO_ON)
		return status;
	if (*input)
		options.input = *input;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return import_run(&options);
}

const struct command command_import = {
	.name = "import",
	.arguments = "[INPUT]",
	.most = 1,
	.summary = "make a recording from the text output of other tools",
	.about = "Makes a recording from the text output of other tools or of uniprof "
		 "report. Reads standard input if INPUT is - or not given.",
	.damaged = "part of the input could not be used and was skipped",
	.groups = groups,
	.run = import_command,
};

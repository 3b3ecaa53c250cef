/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/usage.h"
#include "base/version.h"
#include "import/format.h"

static const char shorts[] = ":f:o:h";

static const char usage[] =
	"Usage: uniprof import [OPTION]... [INPUT]\n"
	"\n"
	"Makes a recording of what other tools, and uniprof report, wrote as text.\n"
	"\n"
	"  INPUT               the text; - is standard input [-]\n"
	"  -f, --from FORMAT   its format [found out from the text], see below\n"
	"  -o, --output FILE   the recording [uniprof.data]; - is standard output\n"
	"  -h, --help          show this help\n"
	"\n"
	"Formats:\n";

static const char usage_exit_codes[] =
	"\n"
	"Exit codes: 0 done, 1 failed, 2 usage, 3 the text ends within a sample, which\n"
	"was left out.\n";

/* No exit code: the options are to be acted on. */
#define GO_ON -1

struct options {
	const char *input, *output;
	const struct import_format *format; /* NULL: to be found out */
};

/* Where the recording goes. */
struct output {
	const char *path;
	int fd;
	bool is_new;	/* to be removed if the import fails */
	char old[4096]; /* what was there has this name now; empty: nothing was */
};

static int help(void)
{
	fputs(usage, stdout);
	for (const struct import_format *const *f = import_format_list(); *f; f++)
		printf("  %-14s  %s\n", (*f)->name, (*f)->about);
	fputs(usage_exit_codes, stdout);
	return EXIT_DONE;
}

static int choose_format(struct options *options, const char *name)
{
	char names[160] = "";
	size_t used = 0;

	options->format = import_format_find(name);
	if (options->format)
		return GO_ON;
	for (const struct import_format *const *f = import_format_list();
	     *f && used < sizeof(names); f++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
					 used ? ", " : "", (*f)->name);
	return usage_error("import", "no format '%s'; there are %s", name, names);
}

static int parse_options(struct options *options, int argc, char **argv)
{
	static const struct option longs[] = {
		{"from", required_argument, NULL, 'f'},
		{"output", required_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int option, status;

	opterr = 0;
	while ((option = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		switch (option) {
		case 'f':
			status = choose_format(options, optarg);
			if (status != GO_ON)
				return status;
			break;
		case 'o':
			options->output = optarg;
			break;
		case 'h':
			return help();
		default:
			return usage_bad_option("import", option, shorts, argv);
		}
	}
	if (optind < argc)
		options->input = argv[optind++];
	if (optind < argc)
		return usage_error("import", "unexpected '%s': one text at a time",
				   argv[optind]);
	return GO_ON;
}

/* As uniprof record does, keeps an older recording under another name. What is behind
 * a symbolic link, which may be a device, is opened as it is. */
static int open_output(struct output *output, struct error *err)
{
	const char *path = output->path;
	struct stat was;
	bool exists;

	if (strcmp(path, "-") == 0) {
		if (isatty(STDOUT_FILENO))
			return error_set(err, "a recording is not for terminals: "
					      "standard output is one");
		output->fd = STDOUT_FILENO;
		return 0;
	}
	exists = lstat(path, &was) == 0;
	if (exists && S_ISREG(was.st_mode) && was.st_size > 0) {
		if ((size_t)snprintf(output->old, sizeof(output->old), "%s.old", path) >=
		    sizeof(output->old))
			return error_set(err, "can't write to %s: its name is too long",
					 path);
		if (rename(path, output->old) < 0) {
			error_errno(err, errno, "can't rename %s to %s", path,
				    output->old);
			output->old[0] = 0;
			return -1;
		}
		exists = false;
	}
	output->is_new = !exists;
	output->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (output->fd < 0)
		return error_errno(err, errno, "can't write to %s", path);
	return 0;
}

/* Closes it; a recording that could not be completed makes room for what was there. */
static int close_output(struct output *output, bool is_done, struct error *err)
{
	if (output->fd > STDOUT_FILENO && close(output->fd) < 0 && is_done) {
		is_done = false;
		error_errno(err, errno, "can't write to %s", output->path);
	}
	if (is_done)
		return 0;
	if (output->is_new)
		unlink(output->path);
	if (output->old[0])
		rename(output->old, output->path);
	return -1;
}

static void describe(struct recording_info *info, const struct options *options)
{
	*info = (struct recording_info){
		.version = RECORDING_VERSION,
		.tool = "uniprof " UNIPROF_VERSION,
	};
	snprintf(info->command, sizeof(info->command), "uniprof import --from %s %s",
		 options->format->name, options->input);
}

static int import(struct options *options, struct lines *lines, int fd, uint64_t *count,
		  struct error *err)
{
	struct recording_info info;
	struct importer *importer;
	int status;

	describe(&info, options);
	importer = importer_new(fd, &info);
	if (!importer)
		return error_set(err, "not enough memory");
	status = import_lines(options->format, lines, importer, err);
	*count = importer_count(importer);
	importer_free(importer);
	return status;
}

static int open_input(const struct options *options, struct lines *lines,
		      struct error *err)
{
	int fd = STDIN_FILENO;

	if (strcmp(options->input, "-") != 0)
		fd = open(options->input, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, errno, "can't be opened");
	if (lines_init(lines, fd) < 0)
		return error_set(err, "not enough memory");
	return 0;
}

static void close_input(struct lines *lines)
{
	if (lines->fd > STDIN_FILENO)
		close(lines->fd);
	lines_free(lines);
}

static int run(struct options *options)
{
	bool from_stdin = strcmp(options->input, "-") == 0;
	const char *name = from_stdin ? "standard input" : options->input;
	struct output output = {.path = options->output, .fd = -1};
	struct lines lines = {.fd = -1};
	struct error err, write_err = {""}, line;
	uint64_t count = 0;
	int status = -1;

	if (open_input(options, &lines, &err) < 0)
		goto failed;
	if (!options->format)
		options->format = import_format_recognize(&lines, &err);
	if (!options->format)
		goto failed;
	if (open_output(&output, &write_err) == 0)
		status = import(options, &lines, output.fd, &count, &err);
	if (close_output(&output, status >= 0, &write_err) < 0)
		goto failed;
	close_input(&lines);
	error_set(&line, "%" PRIu64 " samples from %s (%s)%s", count, name,
		  options->format->name,
		  status == IMPORT_CUT ? "; it ends within one, which was left out" : "");
	fprintf(stderr, "uniprof import: %s\n", line.text);
	return status == IMPORT_CUT ? EXIT_DAMAGED : EXIT_DONE;
failed:
	close_input(&lines);
	if (write_err.text[0])
		line = write_err;
	else
		error_set(&line, "%s: %s", name, err.text);
	fprintf(stderr, "uniprof import: %s\n", line.text);
	return EXIT_FAILED;
}

int command_import(int argc, char **argv)
{
	struct options options = {.input = "-", .output = "uniprof.data"};
	int status = parse_options(&options, argc, argv);

	if (status != GO_ON)
		return status;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return run(&options);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/commands.h"

#include <stdlib.h>
#include <unistd.h>

#include "commands/report/progress.h"
#include "report/info/links.h"
#include "report/info/overview.h"
#include "report/load/load.h"
#include "report/model/checks/ends.h"
#include "report/model/measure.h"
#include "output/write/outfile.h"

/* Number of names that are read from a recording, to find where chains start: recorders
 * store fewer, and imported recordings with more would need too much memory. */
#define NAMES_MAX (1u << 18)

struct info {
	struct input input;
	struct summary summary;
	struct measure measure;
	struct stacks *stacks;
	struct processes processes;
	struct links links;
	struct sources sources; /* names, which tell where chains start */
	uint64_t names;		/* number of names in sources.recorded */
	struct frames *frames;
	struct replay *replay;
	struct progress progress;
};

struct info_options {
	const char *path;
	const char **elf; /* specs */
	size_t elfs;
	bool verbose;
};

static int add_elf(void *to, const char *argument, struct error *err)
{
	struct info_options *options = to;

	(void)err;
	return option_append(&options->elf, &options->elfs, argument);
}

static const struct command_option known[] = {
	{"input", 'i', "FILE",
	 "recording to read (default: uniprof.data; - for standard input)",
	 .set = option_set_text, .offset = offsetof(struct info_options, path)},
	{"symbols", 's', "ELF[@OFFSET][,domain=NAME]",
	 "ELF file of a guest on x86-64 or arm64, to check the links between callers and "
	 "callees, "
	 "and to unwind captured stacks; "
	 "can be repeated",
	 .set = add_elf},
	{"verbose", 'v', NULL, "show more details", .set = option_set_true,
	 .offset = offsetof(struct info_options, verbose)},
	{0},
};

static const struct option_group groups[] = {
	{"Options", known, 0},
	{0},
};

static void say_error(const struct error *line)
{
	fprintf(stderr, "uniprof info: %s\n", line->text);
}

static int add_samples(void *arg, struct samples_batch *batch, struct error *err)
{
	struct info *info = arg;

	progress_update(&info->progress, info->summary.bytes);
	if (measure_batch(&info->measure, &info->summary, batch) < 0 ||
	    stacks_add(info->stacks, batch, info->measure.counts) < 0 ||
	    processes_count(&info->processes, &info->summary, batch) < 0)
		return error_set(err, "out of memory reading %s", info->input.name);
	return 0;
}

static int add_names(void *arg, const struct name_list_reader *names, struct error *err)
{
	struct info *info = arg;

	info->names += names->left;
	if (info->names > NAMES_MAX)
		return 0;
	if (recorded_add(info->sources.recorded, info->sources.mappings, *names) < 0)
		return error_set(err, "out of memory reading %s", info->input.name);
	return 0;
}

/* Prepares to look names up, in the recording itself and in the files. Files without
 * names are of use, too. -1 if out of memory. */
static int info_open_names(struct info *info, const struct info_options *options)
{
	struct error ignored;

	info->sources = (struct sources){
		.options = {.demangle = DEMANGLE_BARE,
			    .debug_directory = DEBUG_DIRECTORY},
		.recorded = recorded_new(DEMANGLE_BARE),
		.mappings = mappings_new(),
	};
	if (!info->sources.recorded || !info->sources.mappings)
		return -1;
	for (size_t i = 0; i < options->elfs; i++)
		sources_add(&info->sources, options->elf[i], &ignored);
	info->frames = frames_new(&info->sources, &info->summary);
	return info->frames && recorded_begin(info->sources.recorded, 0) == 0 ? 0 : -1;
}

/* Opens the files whose code is compared with the chains, after captured stacks are
 * unwound by them. */
static int info_open_files(struct info *info, const struct info_options *options,
			   struct error *err)
{
	info->replay = replay_new(DEBUG_DIRECTORY);
	if (!info->replay)
		return error_set(err, "out of memory");
	for (size_t i = 0; i < options->elfs; i++) {
		if (links_add(&info->links, options->elf[i], err) < 0)
			return -1;
		if (replay_add(info->replay, options->elf[i]) < 0)
			return error_set(err, "out of memory");
	}
	return 0;
}

/* Whether any links were compared with the programs' code while recording. */
static bool has_links(const struct summary *summary)
{
	const uint64_t *links = summary->counts.links;

	return links[LINK_PROVEN] || links[LINK_POSSIBLE] || links[LINK_IMPOSSIBLE];
}

static int info_write(struct info *info, FILE *out, bool all)
{
	uint64_t ends[SAMPLES_ROOTS];

	if (ends_count(ends, info->stacks, info->frames) < 0 ||
	    overview_write(out, info->input.name, &info->summary, info->stacks, ends,
			   &info->processes, all) < 0)
		return -1;
	if (!info->links.files) {
		if (has_links(&info->summary))
			overview_write_links(
				out, "Links between callers and callees, when recorded",
				info->summary.counts.links);
		return 0;
	}
	if (links_measure(&info->links, info->stacks, &info->summary) < 0)
		return -1;
	overview_write_links(out, "Links between callers and callees",
			     info->links.counts);
	return 0;
}

static int info_run(const char *path, const struct info_options *options)
{
	struct info info = {.input.fd = -1};
	struct load_visitor visitor = {
		.names = add_names, .samples = add_samples, .arg = &info};
	struct error err = {""};
	int exit_code = EXIT_FAILED, status;
	struct outfile out;

	if (info_open_files(&info, options, &err) < 0 ||
	    input_open(&info.input, path, &err) < 0)
		goto out;
	info.stacks = stacks_new();
	if (!info.stacks || info_open_names(&info, options) < 0 ||
	    measure_init(&info.measure, MEASURE_SAMPLES, MEASURE_ALL_STATES, NULL) < 0) {
		error_set(&err, "out of memory");
		goto out;
	}
	visitor.replay = info.replay;
	progress_start(&info.progress, info.input.size);
	status = load_recording(&info.input, 0, &info.summary, &visitor, &err);
	progress_end(&info.progress);
	if (status < 0)
		goto out;
	if (outfile_open(&out, NULL, &err) < 0)
		goto out;
	if (info_write(&info, out.stream, options->verbose) < 0) {
		error_set(&err, "out of memory");
		goto out;
	}
	if (outfile_close(&out, true, &err) < 0)
		goto out;
	exit_code = summary_damage(&info.summary, info.input.name, &err) ? EXIT_DAMAGED
									 : EXIT_DONE;
out:
	if (err.text[0])
		say_error(&err);
	measure_free(&info.measure);
	stacks_free(info.stacks);
	links_free(&info.links);
	frames_free(info.frames);
	recorded_free(info.sources.recorded);
	mappings_free(info.sources.mappings);
	sources_free(&info.sources);
	replay_free(info.replay);
	processes_free(&info.processes);
	summary_free(&info.summary);
	input_close(&info.input);
	return exit_code;
}

static int info_command(const struct command *command, int argc, char **argv)
{
	struct info_options options = {.path = "uniprof.data"};
	char **file;
	int status = command_parse(command, argc, argv, &options, &file);

	if (status == COMMAND_GO_ON)
		status = info_run(*file ? *file : options.path, &options);
	free(options.elf);
	return status;
}

const struct command command_info = {
	.name = "info",
	.arguments = "[FILE]",
	.most = 1,
	.summary = "show what a recording contains",
	.about = "Shows what a recording contains. With -s, "
		 "also how many links between callers and callees agree with the guest's "
		 "code. FILE is the same as -i FILE.",
	.damaged = "the recording is damaged, and what could be read was reported",
	.groups = groups,
	.run = info_command,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/archive/archive.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/command/message.h"
#include "base/replace.h"
#include "report/archive/names.h"
#include "report/archive/stacks.h"
#include "report/load/ahead.h"
#include "report/profile_options.h"

/* The copy of the recording. */
struct copy {
	const struct profile *profile;
	struct writer *writer;
	struct sequence sequence;
	bool has_names; /* they are written */
	uint64_t names; /* of addresses, written */
	struct error *err;
};

/* Copies the names that are not from an earlier archive. */
static int copy_names(struct copy *copy, const struct ahead_chunk *chunk,
		      const struct recording_sums *sums)
{
	const struct cursor payload = cursor_of(&chunk->payload);
	struct name_list_reader names, check;
	struct recording_name name;
	bool has_symbols = false;

	if (name_list_read(&names, payload) == 0)
		for (check = names; name_list_next(&check, &name);)
			has_symbols |= name.is_symbol;
	if (!has_symbols)
		return writer_copy(copy->writer, chunk->type, payload, sums, copy->err);
	writer_leave_out(copy->writer);
	while (name_list_next(&names, &name))
		if (!name.is_symbol && writer_name(copy->writer, &name, copy->err) < 0)
			return -1;
	return writer_flush(copy->writer, copy->err);
}

/* Captured stacks become the chains that were named. */
static int unwind_chunk(const struct copy *copy, struct ahead_chunk *chunk)
{
	const struct profile *profile = copy->profile;

	if (chunk->type != CHUNK_SAMPLES || !chunk->is_decoded ||
	    !chunk->batch.has_stacks)
		return 0;
	if (replay_batch(profile->replay, &profile->summary, &chunk->batch) < 0 ||
	    archive_stacks(chunk) < 0)
		return profile_out_of_memory(copy->err);
	return 0;
}

static int copy_chunk(struct copy *copy, struct ahead_chunk *chunk)
{
	struct recording_sums sums;
	uint64_t missing;

	/* What is out of place is damage, and is not copied. */
	if (!sequence_take(&copy->sequence, &chunk->place, &missing))
		return 0;
	if (!copy->has_names && chunk->type != CHUNK_INFO &&
	    chunk->type != CHUNK_DOMAIN) {
		copy->has_names = true;
		if (archive_names_write(copy->profile, copy->writer, &copy->names,
					copy->err) < 0)
			return -1;
	}
	if (chunk->type == CHUNK_PROGRAM) {
		writer_leave_out(copy->writer);
		return 0;
	}
	if (unwind_chunk(copy, chunk) < 0)
		return -1;
	sums = ahead_chunk_sums(chunk);
	if (chunk->type == CHUNK_NAMES)
		return copy_names(copy, chunk, &sums);
	return writer_copy(copy->writer, chunk->type, cursor_of(&chunk->payload), &sums,
			   copy->err);
}

/* Reads the recording again, and writes it with the names to @fd. */
static int copy_recording(struct copy *copy, int fd)
{
	const struct input *input = &copy->profile->inputs[0];
	struct reader *reader = reader_new(input->fd);
	struct ahead_chunk chunk = {0};
	int status = -1;

	copy->writer = writer_copy_new(fd, copy->err);
	if (!reader) {
		profile_out_of_memory(copy->err);
		goto out;
	}
	if (!copy->writer || input_rewind(input, copy->err) < 0)
		goto out;
	for (;;) {
		ahead_chunk_read(&chunk, reader, NULL);
		status = chunk.status;
		if (status < 0)
			error_set(copy->err, "%s: %s", input->name, chunk.why.text);
		if (status <= 0)
			break;
		if (copy_chunk(copy, &chunk) < 0) {
			status = -1;
			break;
		}
	}
out:
	ahead_chunk_free(&chunk);
	reader_free(reader);
	return status;
}

static void say_result(const struct copy *copy, const char *path)
{
	message(copy->profile->rules->command,
		"wrote %" PRIu64 " name%s to %s: %" PRIu64 " bytes, %" PRIu64 " before",
		copy->names, copy->names == 1 ? "" : "s",
		strcmp(path, "-") == 0 ? "standard output" : path,
		writer_bytes(copy->writer), copy->profile->summary.bytes);
}

/* Checks what is known before reading. EXIT_DONE, or the exit code with @err set. */
static int check(const struct profile *profile, const char *output, struct error *err)
{
	const struct input *input = &profile->inputs[0];
	const char *changed = sources_read_from(&profile->sources, output);

	if (changed) {
		error_set(err, "refusing to overwrite %s: it is the input %s", output,
			  changed);
		return EXIT_USAGE;
	}
	if (profile_by_process(profile)) {
		error_set(err, "names can't be stored for one process: give the symbol "
			       "files without ',comm=' and ',space='");
		return EXIT_USAGE;
	}
	if (strcmp(output, "-") == 0 && isatty(STDOUT_FILENO)) {
		error_set(err, "refusing to write a recording to a terminal");
		return EXIT_FAILED;
	}
	if (input->start >= 0)
		return EXIT_DONE;
	error_set(err, "%s is a pipe, but the recording is read twice: use a file",
		  input->name);
	return EXIT_FAILED;
}

/* A recorder would go on writing to the old file. */
static int check_end(const struct archive_options *options, const struct profile *profile,
		     struct error *err)
{
	if (options->output || profile->summary.has_end)
		return 0;
	return error_set(
		err,
		"%s has no end: its recorder may still write to it; name another "
		"output with -o",
		profile->inputs[0].name);
}

/* Whether the files match what ran. */
static int check_fit(const struct profile *profile, struct error *err)
{
	struct error line;

	for (size_t i = 0; i < profile->fit.count; i++)
		if (fit_note(&profile->fit, i, &line))
			return error_set(err, "names are not stored: %s", line.text);
	return 0;
}

int archive_run(const struct archive_options *options)
{
	const char *output = options->output ?: options->profile.rules.inputs[0];
	struct profile profile = {0};
	struct error err = {""};
	struct copy copy = {.profile = &profile, .err = &err};
	struct replace file = {.fd = -1};
	int exit_code = EXIT_FAILED;

	if (profile_open(&profile, &options->profile.rules, &err) < 0)
		goto out;
	exit_code = check(&profile, output, &err);
	if (exit_code != EXIT_DONE)
		goto out;
	exit_code = EXIT_FAILED;
	if (replace_open(&file, output, 0600, !options->replaces, &err) < 0)
		goto out;
	profile_describe_symbols(&profile);
	if (profile_read(&profile, stderr, !options->is_brief, NULL, NULL, &err) < 0 ||
	    check_end(options, &profile, &err) < 0 ||
	    (options->must_fit && check_fit(&profile, &err) < 0) ||
	    copy_recording(&copy, file.fd) < 0 || replace_commit(&file, &err) < 0)
		goto out;
	exit_code = EXIT_DONE;
	if (!options->is_brief) {
		exit_code = profile_say_notes(&profile);
		say_result(&copy, output);
	}
out:
	if ((exit_code == EXIT_FAILED || exit_code == EXIT_USAGE) && err.text[0])
		message(options->profile.rules.command, "%s", err.text);
	replace_abandon(&file);
	writer_free(copy.writer);
	profile_close(&profile);
	return exit_code;
}

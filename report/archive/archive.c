/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/archive/archive.h"

#include <string.h>
#include <unistd.h>

/* The copying of a recording. */
struct copy {
	struct archive *archive;
	struct writer *writer;
	struct sequence sequence; /* order of the chunks read so far */
	bool has_names;		  /* the names were written to the copy */
	struct error *err;
};

/* Copies the names that are not from an earlier archive. */
static int copy_names(struct copy *copy, const struct ahead_chunk *chunk,
		      const struct recording_sums *sums)
{
	const struct chunk_read read = {.payload = cursor_of(&chunk->payload)};
	struct name_list_reader names, check;
	struct recording_name name;
	bool has_symbols = false;

	if (name_list_read(&names, read.payload) == 0)
		for (check = names; name_list_next(&check, &name);)
			has_symbols |= name.is_symbol;
	if (!has_symbols)
		return writer_copy(copy->writer, chunk->type, &read, sums, copy->err);
	writer_leave_out(copy->writer);
	while (name_list_next(&names, &name))
		if (!name.is_symbol && writer_name(copy->writer, &name, copy->err) < 0)
			return -1;
	return writer_flush(copy->writer, copy->err);
}

static int encode_samples(struct samples_encoder *encoder,
			  const struct ahead_chunk *chunk, struct buffer *payload)
{
	uint64_t address[RECORDING_MAX_DEPTH];

	for (size_t i = 0; i < chunk->batch.count; i++) {
		struct sample sample = samples_batch_sample(&chunk->batch, i, address);

		sample.chain.is_stack = false; /* a chain of addresses from now on */
		if (samples_encoder_add(encoder, &sample) < 0)
			return -1;
	}
	if (chunk->place.is_known)
		place_put(payload, chunk->place.mark, chunk->place.number);
	samples_encoder_finish(encoder, &chunk->batch.counts, payload);
	return payload->failed ? -1 : 0;
}

int archive_stacks(struct ahead_chunk *chunk)
{
	struct samples_encoder *encoder = samples_encoder_new();
	struct buffer payload = {0};
	int status = encoder ? encode_samples(encoder, chunk, &payload) : -1;

	samples_encoder_free(encoder);
	if (status < 0) {
		buffer_free(&payload);
		return -1;
	}
	buffer_free(&chunk->payload);
	chunk->payload = payload;
	chunk->payload_size = payload.size;
	chunk->nodes = chunk->batch.nodes;
	return 0;
}

/* Captured stacks become the chains that were named. */
static int unwind_chunk(const struct copy *copy, struct ahead_chunk *chunk,
			struct cursor *whole)
{
	const struct profile *profile = copy->archive->profile;

	if (chunk->type != CHUNK_SAMPLES || !chunk->is_decoded ||
	    !chunk->batch.has_stacks)
		return 0;
	if (replay_batch(profile->replay, &profile->summary, &chunk->batch) < 0 ||
	    archive_stacks(chunk) < 0)
		return profile_out_of_memory(copy->err);
	*whole = (struct cursor){0};
	return 0;
}

/* @whole: the chunk's bytes */
static int copy_chunk(struct copy *copy, struct ahead_chunk *chunk, struct cursor whole)
{
	struct recording_sums sums;
	uint64_t missing;

	/* A chunk that is out of place is damage, and is not copied. */
	if (!sequence_take(&copy->sequence, &chunk->place, &missing))
		return 0;
	if (!copy->has_names && chunk->type != CHUNK_INFO &&
	    chunk->type != CHUNK_DOMAIN) {
		copy->has_names = true;
		if (archive_names_write(copy->archive->profile, copy->writer,
					&copy->archive->names, copy->err) < 0)
			return -1;
	}
	if (chunk->type == CHUNK_PROGRAM) {
		writer_leave_out(copy->writer);
		return 0;
	}
	if (unwind_chunk(copy, chunk, &whole) < 0)
		return -1;
	sums = ahead_chunk_sums(chunk);
	if (chunk->type == CHUNK_NAMES)
		return copy_names(copy, chunk, &sums);
	return writer_copy(copy->writer, chunk->type,
			   &(struct chunk_read){cursor_of(&chunk->payload), whole}, &sums,
			   copy->err);
}

/* Reads the recording again, and writes it with the names. */
static int copy_recording(struct copy *copy)
{
	const struct input *input = &copy->archive->profile->recordings[0].input;
	struct reader *reader = reader_new(input->fd);
	struct ahead_chunk chunk = {0};
	int status = -1;

	copy->writer = writer_copy_new(copy->archive->file.fd, copy->err);
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
		if (copy_chunk(copy, &chunk, reader_whole(reader)) < 0) {
			status = -1;
			break;
		}
	}
out:
	ahead_chunk_free(&chunk);
	reader_free(reader);
	return status;
}

/* Returns the path of the copy. */
static const char *path_of(const struct profile *profile,
			   const struct archive_options *options)
{
	return options->output ?: profile->rules->inputs[0];
}

bool archive_is_refused(const struct profile *profile,
			const struct archive_options *options, struct error *err)
{
	const char *path = path_of(profile, options);
	const char *changed = sources_read_from(&profile->sources, path);

	if (changed)
		error_set(err, "refusing to overwrite %s: it is the input %s", path,
			  changed);
	else if (profile_by_process(profile))
		error_set(err, "names can't be stored for one process: give the symbol "
			       "files without ',comm=' and ',space='");
	else
		return false;
	return true;
}

int archive_open(struct archive *archive, const struct profile *profile,
		 const struct archive_options *options, struct error *err)
{
	const char *path = path_of(profile, options);

	*archive = (struct archive){
		.profile = profile, .options = options, .path = path, .file.fd = -1};
	if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
		return error_set(err, "refusing to write a recording to a terminal");
	if (profile->recordings[0].input.start < 0)
		return error_set(
			err, "%s is a pipe, but the recording is read twice: use a file",
			profile->recordings[0].input.name);
	return replace_open(&archive->file, path, 0600, !options->replaces, err);
}

void archive_close(struct archive *archive)
{
	replace_abandon(&archive->file);
}

/* Checks that the recording has ended: a recorder would go on writing to the old file. */
static int check_end(const struct archive *archive, struct error *err)
{
	const struct profile *profile = archive->profile;

	if (archive->options->output || profile->summary.has_end)
		return 0;
	return error_set(
		err,
		"%s has no end: its recorder may still write to it; name another "
		"output with -o",
		profile->recordings[0].input.name);
}

/* Checks that the symbol files match what ran. */
static int check_fit(const struct archive *archive, struct error *err)
{
	const struct fit *fit = &archive->profile->fit;
	struct error line;

	for (size_t i = 0; i < fit->count; i++)
		if (fit_note(fit, i, &line))
			return error_set(err, "names are not stored: %s", line.text);
	return 0;
}

int archive_write(struct archive *archive, struct error *err)
{
	struct copy copy = {.archive = archive, .err = err};
	int status = -1;

	if (check_end(archive, err) == 0 &&
	    (!archive->options->must_fit || check_fit(archive, err) == 0) &&
	    copy_recording(&copy) == 0) {
		archive->bytes = writer_bytes(copy.writer);
		status = replace_commit(&archive->file, err);
	}
	writer_free(copy.writer);
	return status;
}

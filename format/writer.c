/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "format/chunk.h"
#include "format/mapping_list.h"
#include "format/name_list.h"
#include "format/place.h"
#include "format/sums.h"

struct writer {
	int fd;
	bool failed;
	struct error why; /* the reason of the failure */
	/* The INFO and DOMAIN chunks, written at the start and again at the end; here not
	 * compressed, and without their places. */
	struct buffer description;
	uint64_t mark, number; /* mark and number of the next chunk */
	bool has_places;       /* false: a copy of a recording that has none */
	uint64_t added;	       /* chunks added to a copy, less those left out; wraps */
	struct name_list names;
	struct mapping_list mappings;
	size_t total_names;
	size_t names_bytes; /* upper bound of all payloads of names and mappings, bytes */
	unsigned int programs;
	struct recording_sums sums;
	struct samples_encoder *encoder;
	struct sampling_counts counts; /* since the last flush */
	struct waits_encoder *waits;   /* NULL: no wait yet */
	struct waits_counts waits_counts;
	bool has_waits_due;
	uint64_t weight; /* total weight of the samples since the last flush */
	uint64_t total_weight;
	struct recording_end total;
	struct pauses pauses; /* pauses of all chunks written */
	uint64_t bytes;
	struct buffer payload, file;
	ZSTD_CCtx *context; /* NULL: out of memory, chunks are not compressed */
};

/* Truncates the last @size bytes of the file, if possible. */
static void take_back(int fd, size_t size)
{
	off_t end = lseek(fd, 0, SEEK_CUR);

	if (end >= (off_t)size && ftruncate(fd, end - (off_t)size) == 0)
		lseek(fd, end - (off_t)size, SEEK_SET);
}

/* Makes this call and all later ones fail for this reason; an @errnum of 0 means out of
 * memory. Returns -1. */
static int writer_fail(struct writer *writer, int errnum, struct error *err)
{
	writer->failed = true;
	if (errnum)
		error_errno(&writer->why, errnum, "can't write the recording");
	else
		error_set(&writer->why, "out of memory writing the recording");
	*err = writer->why;
	return -1;
}

/* Writes the whole buffer @file or, if possible, nothing: a full disk must not leave a
 * partial chunk. */
static int write_out(struct writer *writer, const struct buffer *file, struct error *err)
{
	size_t done = 0;

	if (file->failed)
		return writer_fail(writer, 0, err);
	while (done < file->size) {
		ssize_t wrote = write(writer->fd, file->data + done, file->size - done);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0) {
			int why = errno;

			take_back(writer->fd, done);
			return writer_fail(writer, why, err);
		}
		done += (size_t)wrote;
	}
	writer->bytes += file->size;
	return 0;
}

void writer_begin(struct writer *writer, struct buffer *payload)
{
	buffer_reset(payload);
	if (writer->has_places)
		place_put(payload, writer->mark, writer->number++);
	writer->added++;
}

static int describe_domain(struct writer *writer, const struct recording_domain *domain)
{
	buffer_reset(&writer->payload);
	domain_encode(&writer->payload, domain);
	return chunk_encode_plain(&writer->description, CHUNK_DOMAIN, &writer->payload);
}

static int describe_recording(struct writer *writer, const struct recording_info *info,
			      const struct recording_domain *domains, size_t count)
{
	info_encode(&writer->payload, info);
	writer->mark = place_mark(&writer->payload);
	if (chunk_encode_plain(&writer->description, CHUNK_INFO, &writer->payload) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (describe_domain(writer, &domains[i]) < 0)
			return -1;
	return 0;
}

/* Appends a chunk with the current payload to the file's buffer; @read is the chunk that
 * the payload was read from, or NULL. */
static int writer_encode(struct writer *writer, enum chunk_type type,
			 const struct chunk_read *read)
{
	return read ? chunk_encode_moved(writer->context, &writer->file, type,
					 &writer->payload, read)
		    : chunk_encode_with(writer->context, &writer->file, type,
					&writer->payload);
}

/* Appends the description from its byte @from on to the file's buffer. */
static void put_description(struct writer *writer, size_t from)
{
	const struct buffer *description = &writer->description;
	struct chunk_header header;

	for (; from < description->size; from += CHUNK_HEADER_SIZE + header.stored) {
		const uint8_t *at = description->data + from;

		if (!chunk_header_decode(at, &header))
			break;
		writer_begin(writer, &writer->payload);
		buffer_put(&writer->payload, at + CHUNK_HEADER_SIZE, header.stored);
		if (writer_encode(writer, header.type, NULL) < 0)
			writer->file.failed = true;
	}
}

struct writer *writer_new(int fd, const struct recording_info *info,
			  const struct recording_domain *domains, size_t count,
			  struct error *err)
{
	struct writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		goto no_memory;
	writer->fd = fd;
	writer->context = chunk_context(CHUNK_SMALL);
	writer->encoder = samples_encoder_new();
	writer->has_places = true;
	if (!writer->encoder || describe_recording(writer, info, domains, count) < 0)
		goto no_memory;
	put_description(writer, 0);
	if (write_out(writer, &writer->file, err) == 0)
		return writer;
	writer_free(writer);
	return NULL;
no_memory:
	writer_free(writer);
	error_set(err, "out of memory writing the recording");
	return NULL;
}

struct writer *writer_copy_new(int fd, struct error *err)
{
	struct writer *writer = calloc(1, sizeof(*writer));

	if (writer) {
		writer->fd = fd;
		writer->context = chunk_context(CHUNK_FAST);
		writer->encoder = samples_encoder_new();
	}
	if (writer && writer->encoder)
		return writer;
	writer_free(writer);
	error_set(err, "out of memory writing the recording");
	return NULL;
}

void writer_compress_fast(struct writer *writer)
{
	chunk_set_level(writer->context, CHUNK_FAST);
}

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	name_list_free(&writer->names);
	mapping_list_free(&writer->mappings);
	samples_encoder_free(writer->encoder);
	waits_encoder_free(writer->waits);
	ZSTD_freeCCtx(writer->context);
	buffer_free(&writer->description);
	buffer_free(&writer->payload);
	buffer_free(&writer->file);
	free(writer);
}

bool writer_failed(const struct writer *writer)
{
	return writer->failed;
}

struct sampling_counts *writer_counts(struct writer *writer)
{
	return &writer->counts;
}

uint64_t writer_bytes(const struct writer *writer)
{
	return writer->bytes;
}

uint64_t writer_weight(const struct writer *writer)
{
	return writer->total_weight;
}

const struct pauses *writer_pauses(const struct writer *writer)
{
	return &writer->pauses;
}

int writer_domain(struct writer *writer, const struct recording_domain *domain,
		  struct error *err)
{
	size_t before = writer->description.size;

	if (writer->failed) {
		*err = writer->why;
		return -1;
	}
	if (describe_domain(writer, domain) < 0)
		return writer_fail(writer, 0, err);
	buffer_reset(&writer->file);
	put_description(writer, before);
	return write_out(writer, &writer->file, err);
}

int writer_sample(struct writer *writer, const struct sample *sample, struct error *err)
{
	if (writer->failed) {
		*err = writer->why;
		return -1;
	}
	if (samples_encoder_add(writer->encoder, sample) < 0)
		return writer_fail(writer, 0, err);
	writer->weight += sample->weight;
	return samples_encoder_full(writer->encoder) ? writer_flush(writer, err) : 0;
}

int writer_wait(struct writer *writer, const struct wait *wait, struct error *err)
{
	if (writer->failed) {
		*err = writer->why;
		return -1;
	}
	if (!writer->waits)
		writer->waits = waits_encoder_new();
	if (!writer->waits || waits_encoder_add(writer->waits, wait) < 0)
		return writer_fail(writer, 0, err);
	if (!waits_encoder_full(writer->waits))
		return 0;
	writer_waits(writer);
	return writer_flush(writer, err);
}

void writer_waits(struct writer *writer)
{
	writer->has_waits_due = true;
}

struct waits_counts *writer_waits_counts(struct writer *writer)
{
	return &writer->waits_counts;
}

static int too_many_names(struct error *err)
{
	return error_set(err, "too many names for a recording");
}

/* Counts names or mappings, @bytes at most in a payload. False if they are too many. */
static bool count_names(struct writer *writer, size_t count, size_t bytes)
{
	if (count > RECORDING_MAX_ALL_NAMES - writer->total_names ||
	    bytes > RECORDING_MAX_NAMES_BYTES - writer->names_bytes)
		return false;
	writer->total_names += count;
	writer->names_bytes += bytes;
	return true;
}

int writer_name(struct writer *writer, const struct recording_name *name,
		struct error *err)
{
	/* An upper bound: the nine numbers of a name take 34 bytes, the three of a line
	 * 11, and the chunk itself 128. */
	size_t bytes = name->name.length + name->dso.length + name->file_path.length +
		       name->file_build_id.length + 34 + (writer->names.count ? 0 : 128);
	size_t count = 1 + name->line_count;

	for (uint32_t i = 0; i < name->line_count; i++)
		bytes += name->lines[i].function.length + name->lines[i].path.length + 11;

	if (writer->failed) {
		*err = writer->why;
		return -1;
	}
	if (!count_names(writer, count, bytes))
		return too_many_names(err);
	name_list_add(&writer->names, name);
	return name_list_full(&writer->names) ? writer_flush(writer, err) : 0;
}

int writer_mapping(struct writer *writer, const struct recording_mapping *mapping,
		   struct error *err)
{
	/* An upper bound: the numbers of a mapping take 61 bytes. */
	size_t bytes = mapping->path.length + mapping->build_id.length + 61 +
		       (writer->mappings.count ? 0 : 128);

	if (writer->failed) {
		*err = writer->why;
		return -1;
	}
	if (!count_names(writer, 1, bytes))
		return 0;
	mapping_list_add(&writer->mappings, mapping);
	return mapping_list_full(&writer->mappings) ? writer_flush(writer, err) : 0;
}

/*
 * Appends a chunk with the current payload to the file's buffer. @more is what the chunk
 * adds to the recording's totals; if the totals would exceed the limits for the size of
 * the file, the chunk is not compressed.
 */
static void put_chunk(struct writer *writer, enum chunk_type type,
		      const struct chunk_read *read, const struct recording_sums *more)
{
	struct buffer *file = &writer->file;
	size_t start = file->size;
	int status = writer_encode(writer, type, read);

	sums_add(&writer->sums, more);
	writer->sums.payload += writer->payload.size;
	if (status == 0 && !sums_fit(&writer->sums, writer->bytes + file->size)) {
		file->size = start;
		status = chunk_encode_plain(file, type, &writer->payload);
	}
	if (status < 0)
		file->failed = true;
}

/* Appends a chunk of the names to the file's buffer, if there are any. */
static void put_names(struct writer *writer)
{
	struct recording_sums more = {.names = writer->names.count + writer->names.lines};

	if (!writer->names.count)
		return;
	writer_begin(writer, &writer->payload);
	name_list_finish(&writer->names, &writer->payload);
	more.names_payload = writer->payload.size;
	put_chunk(writer, CHUNK_NAMES, NULL, &more);
}

/* Likewise of the mappings. */
static void put_mappings(struct writer *writer)
{
	struct recording_sums more = {.names = writer->mappings.count};

	if (!writer->mappings.count)
		return;
	writer_begin(writer, &writer->payload);
	mapping_list_finish(&writer->mappings, &writer->payload);
	more.names_payload = writer->payload.size;
	put_chunk(writer, CHUNK_MAPPINGS, NULL, &more);
}

/* Appends a chunk of the waits to the file's buffer, if it is due and not empty. Waits
 * count as samples in the recording's totals. */
static void put_waits(struct writer *writer)
{
	const struct waits_counts *counts = &writer->waits_counts;
	struct recording_sums more = {0};

	if (!writer->waits && counts->rounds)
		writer->waits = waits_encoder_new();
	if (!writer->has_waits_due || !writer->waits)
		return;
	writer->has_waits_due = false;
	more.samples = waits_encoder_count(writer->waits);
	if (!more.samples && !counts->rounds && !counts->skipped)
		return;
	writer_begin(writer, &writer->payload);
	more.nodes = waits_encoder_finish(writer->waits, counts, &writer->payload);
	put_chunk(writer, CHUNK_WAITS, NULL, &more);
	writer->waits_counts = (struct waits_counts){
		.until = counts->until,
		.period = counts->period,
		.threads = counts->threads,
	};
}

int writer_flush(struct writer *writer, struct error *err)
{
	const struct sampling_counts *counts = &writer->counts;
	size_t samples = samples_encoder_count(writer->encoder);
	struct recording_sums more;

	if (writer->failed) {
		*err = writer->why;
		return -1;
	}
	buffer_reset(&writer->file);
	put_names(writer);
	put_mappings(writer);
	if (samples || counts->lost || counts->missed || counts->pauses.count) {
		writer_begin(writer, &writer->payload);
		more = (struct recording_sums){
			.samples = samples,
			.nodes = samples_encoder_nodes(writer->encoder),
		};
		samples_encoder_finish(writer->encoder, counts, &writer->payload);
		put_chunk(writer, CHUNK_SAMPLES, NULL, &more);
	}
	put_waits(writer);
	if (!writer->file.size && !writer->file.failed)
		return 0;
	if (write_out(writer, &writer->file, err) < 0)
		return -1;
	writer->total.samples += samples;
	writer->total_weight += writer->weight;
	writer->weight = 0;
	writer->total.lost += counts->lost;
	writer->total.missed += counts->missed;
	pauses_merge(&writer->pauses, &counts->pauses);
	writer->counts = (struct sampling_counts){0};
	return 0;
}

int writer_program(struct writer *writer, const struct recording_program *program,
		   struct error *err)
{
	if (writer_flush(writer, err) < 0)
		return -1;
	if (writer->programs == RECORDING_MAX_PROGRAMS)
		return error_set(err, "more than %d programs for a recording",
				 RECORDING_MAX_PROGRAMS);
	writer->programs++;
	writer_begin(writer, &writer->payload);
	program_encode(&writer->payload, program);
	buffer_reset(&writer->file);
	put_chunk(writer, CHUNK_PROGRAM, NULL, &(struct recording_sums){0});
	return write_out(writer, &writer->file, err);
}

int writer_copy(struct writer *writer, unsigned int type, const struct chunk_read *chunk,
		const struct recording_sums *sums, struct error *err)
{
	const struct chunk_place place = place_of(chunk->payload);
	const struct cursor payload = place_skip(chunk->payload);

	if (writer_flush(writer, err) < 0)
		return -1;
	if (sums->names > RECORDING_MAX_ALL_NAMES - writer->total_names ||
	    sums->names_payload > RECORDING_MAX_NAMES_BYTES - writer->names_bytes)
		return too_many_names(err);
	writer->total_names += (size_t)sums->names;
	writer->names_bytes += (size_t)sums->names_payload;
	writer->has_places = place.is_known;
	writer->mark = place.mark;
	writer->number = place.number + writer->added;
	writer_begin(writer, &writer->payload);
	writer->added--;
	buffer_put(&writer->payload, payload.at, (size_t)(payload.end - payload.at));
	buffer_reset(&writer->file);
	put_chunk(writer, (enum chunk_type)type, chunk, sums);
	return write_out(writer, &writer->file, err);
}

void writer_leave_out(struct writer *writer)
{
	writer->added--;
}

int writer_samples(struct writer *writer, const struct chunk_read *chunk,
		   const struct samples_batch *batch, struct error *err)
{
	const struct cursor payload = place_skip(chunk->payload);
	const struct recording_sums more = {
		.samples = batch->count,
		.nodes = batch->nodes - SAMPLES_ROOTS,
	};

	if (writer_flush(writer, err) < 0)
		return -1;
	writer_begin(writer, &writer->payload);
	buffer_put(&writer->payload, payload.at, (size_t)(payload.end - payload.at));
	buffer_reset(&writer->file);
	put_chunk(writer, CHUNK_SAMPLES, chunk, &more);
	if (write_out(writer, &writer->file, err) < 0)
		return -1;
	writer->total.samples += batch->count;
	for (size_t i = 0; i < batch->count; i++)
		writer->total_weight += batch->weight[i];
	writer->total.lost += batch->counts.lost;
	writer->total.missed += batch->counts.missed;
	pauses_merge(&writer->pauses, &batch->counts.pauses);
	return 0;
}

int writer_end(struct writer *writer, struct recording_end *end, struct error *err)
{
	int flushed;

	writer_waits(writer);
	flushed = writer_flush(writer, err);
	end->samples = writer->total.samples;
	end->lost = writer->total.lost;
	end->missed = writer->total.missed;
	end->pauses = writer->pauses.count;
	end->paused = writer->pauses.sum;
	if (flushed < 0)
		return -1;
	buffer_reset(&writer->file);
	/* The description is repeated, for readers of a file with a damaged start. */
	put_description(writer, 0);
	writer_begin(writer, &writer->payload);
	end_encode(&writer->payload, end);
	if (writer_encode(writer, CHUNK_END, NULL) < 0)
		writer->file.failed = true;
	return write_out(writer, &writer->file, err);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/chunk.h"
#include "format/name_list.h"

struct writer {
	int fd;
	bool failed;
	struct error why;	   /* it failed */
	struct buffer description; /* the chunks at the start, and again at the end */
	struct name_list names;
	size_t total_names;
	size_t names_bytes; /* of their payloads, at most */
	struct samples_encoder *encoder;
	struct sampling_counts counts; /* since the last flush */
	uint64_t weight;	       /* of the samples since then */
	uint64_t total_weight;
	struct recording_end total;
	struct pauses pauses; /* of all chunks written */
	uint64_t bytes;
	struct buffer payload, file;
};

/* Shortens the file again by its last @size bytes, where it is one that can be. */
static void take_back(int fd, size_t size)
{
	off_t end = lseek(fd, 0, SEEK_CUR);

	if (end >= (off_t)size && ftruncate(fd, end - (off_t)size) == 0)
		lseek(fd, end - (off_t)size, SEEK_SET);
}

/* All calls from now on fail for the same reason; 0 stands for lack of memory. */
static int fail(struct writer *writer, int errnum, struct error *err)
{
	writer->failed = true;
	if (errnum)
		error_errno(&writer->why, errnum, "can't write the recording");
	else
		error_set(&writer->why, "not enough memory to write the recording");
	*err = writer->why;
	return -1;
}

/* Writes all of it, or none if it can: a full disk shall leave no half chunk. */
static int write_out(struct writer *writer, const struct buffer *file, struct error *err)
{
	size_t done = 0;

	if (file->failed)
		return fail(writer, 0, err);
	while (done < file->size) {
		ssize_t wrote = write(writer->fd, file->data + done, file->size - done);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0) {
			int why = errno;

			take_back(writer->fd, done);
			return fail(writer, why, err);
		}
		done += (size_t)wrote;
	}
	writer->bytes += file->size;
	return 0;
}

static int describe_domain(struct writer *writer, const struct recording_domain *domain)
{
	buffer_reset(&writer->payload);
	domain_encode(&writer->payload, domain);
	return chunk_encode(&writer->description, CHUNK_DOMAIN, &writer->payload);
}

static int describe(struct writer *writer, const struct recording_info *info,
		    const struct recording_domain *domains, size_t count)
{
	info_encode(&writer->payload, info);
	if (chunk_encode(&writer->description, CHUNK_INFO, &writer->payload) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (describe_domain(writer, &domains[i]) < 0)
			return -1;
	return 0;
}

struct writer *writer_new(int fd, const struct recording_info *info,
			  const struct recording_domain *domains, size_t count,
			  struct error *err)
{
	struct writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		goto no_memory;
	writer->fd = fd;
	writer->encoder = samples_encoder_new();
	if (!writer->encoder || describe(writer, info, domains, count) < 0)
		goto no_memory;
	if (write_out(writer, &writer->description, err) == 0)
		return writer;
	writer_free(writer);
	return NULL;
no_memory:
	writer_free(writer);
	error_set(err, "not enough memory to write a recording");
	return NULL;
}

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	name_list_free(&writer->names);
	samples_encoder_free(writer->encoder);
	buffer_free(&writer->description);
	buffer_free(&writer->payload);
	buffer_free(&writer->file);
	free(writer);
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
		return fail(writer, 0, err);
	buffer_reset(&writer->file);
	buffer_put(&writer->file, writer->description.data + before,
		   writer->description.size - before);
	return write_out(writer, &writer->file, err);
}

int writer_sample(struct writer *writer, const struct sample *sample, struct error *err)
{
	if (writer->failed) {
		*err = writer->why;
		return -1;
	}
	if (samples_encoder_add(writer->encoder, sample) < 0)
		return fail(writer, 0, err);
	writer->weight += sample->weight;
	return samples_encoder_full(writer->encoder) ? writer_flush(writer, err) : 0;
}

int writer_name(struct writer *writer, const struct recording_name *name,
		struct error *err)
{
	/* At most: a name's five numbers have 29 bytes, and its chunk 64 besides. */
	size_t bytes = name->name.length + name->dso.length + 29 +
		       (writer->names.count ? 0 : 64);

	if (writer->failed) {
		*err = writer->why;
		return -1;
	}
	if (writer->total_names == RECORDING_MAX_ALL_NAMES ||
	    bytes > RECORDING_MAX_NAMES_BYTES - writer->names_bytes)
		return error_set(err, "there are more names than a recording can have");
	writer->total_names++;
	writer->names_bytes += bytes;
	name_list_add(&writer->names, name);
	return name_list_full(&writer->names) ? writer_flush(writer, err) : 0;
}

/* Puts a chunk with what is in the payload behind the others in the file's buffer. */
static void put_chunk(struct writer *writer, enum chunk_type type)
{
	if (chunk_encode(&writer->file, type, &writer->payload) < 0)
		writer->file.failed = true;
}

int writer_flush(struct writer *writer, struct error *err)
{
	const struct sampling_counts *counts = &writer->counts;
	size_t samples = samples_encoder_count(writer->encoder);

	if (writer->failed) {
		*err = writer->why;
		return -1;
	}
	buffer_reset(&writer->file);
	if (writer->names.count) {
		buffer_reset(&writer->payload);
		name_list_finish(&writer->names, &writer->payload);
		put_chunk(writer, CHUNK_NAMES);
	}
	if (samples || counts->lost || counts->missed || counts->pauses.count) {
		buffer_reset(&writer->payload);
		samples_encoder_finish(writer->encoder, counts, &writer->payload);
		put_chunk(writer, CHUNK_SAMPLES);
	}
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

int writer_end(struct writer *writer, struct recording_end *end, struct error *err)
{
	int flushed = writer_flush(writer, err);

	end->samples = writer->total.samples;
	end->lost = writer->total.lost;
	end->missed = writer->total.missed;
	end->pauses = writer->pauses.count;
	end->paused = writer->pauses.sum;
	if (flushed < 0)
		return -1;
	buffer_reset(&writer->payload);
	buffer_reset(&writer->file);
	end_encode(&writer->payload, end);
	/* Described once more, for a reader that found the start damaged. */
	buffer_put(&writer->file, writer->description.data, writer->description.size);
	if (chunk_encode(&writer->file, CHUNK_END, &writer->payload) < 0)
		writer->file.failed = true;
	return write_out(writer, &writer->file, err);
}

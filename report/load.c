/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/chunk.h"
#include "report/ahead.h"

struct load {
	const struct input *input;
	struct summary *summary;
	const struct load_visitor *visitor;
	struct error *err;
	uint64_t names_bytes; /* of payloads, so far */
};

int input_open(struct input *input, const char *path, struct error *err)
{
	struct stat st;

	*input = (struct input){.name = path, .fd = STDIN_FILENO};
	if (strcmp(path, "-") == 0) {
		input->name = "standard input";
		if (isatty(STDIN_FILENO))
			return error_set(err,
					 "no recording comes from standard input: it "
					 "is a terminal");
	} else {
		input->fd = open(path, O_RDONLY | O_CLOEXEC);
		if (input->fd < 0 && errno == ENOENT)
			return error_set(err,
					 "there is no recording %s (uniprof record makes "
					 "one, -i names another)",
					 path);
		if (input->fd < 0)
			return error_errno(err, errno, "can't open the recording %s",
					   path);
	}
	input->start = lseek(input->fd, 0, SEEK_CUR);
	if (fstat(input->fd, &st) == 0 && S_ISREG(st.st_mode))
		input->size = (uint64_t)st.st_size;
	return 0;
}

int input_rewind(const struct input *input, struct error *err)
{
	if (lseek(input->fd, input->start, SEEK_SET) >= 0)
		return 0;
	return error_errno(err, errno, "can't read %s again", input->name);
}

void input_close(struct input *input)
{
	if (input->fd > STDIN_FILENO)
		close(input->fd);
	input->fd = -1;
}

static int out_of_memory(struct load *load)
{
	return error_set(load->err, "not enough memory to read %s", load->input->name);
}

/* What the chunk handlers return besides 0 and -1: its payload makes no sense. */
#define DAMAGED 1

static int take_info(struct load *load, struct cursor payload)
{
	struct recording_info info;

	if (info_decode(payload, &info) < 0)
		return DAMAGED;
	if (info.version > RECORDING_VERSION)
		return error_set(load->err,
				 "%s is of format version %" PRIu64
				 ", and this uniprof reads up to %d: use a later uniprof",
				 load->input->name, info.version, RECORDING_VERSION);
	summary_add_info(load->summary, &info);
	return 0;
}

static int take_domain(struct load *load, struct cursor payload)
{
	const struct load_visitor *visitor = load->visitor;
	struct recording_domain domain;

	if (domain_decode(payload, &domain) < 0 || domain.index > RECORDING_MAX_DOMAIN)
		return DAMAGED;
	if (summary_domain(load->summary, domain.index))
		return 0;
	if (visitor->domain && visitor->domain(visitor->arg, &domain, load->err) < 0)
		return -1;
	return summary_add_domain(load->summary, &domain) < 0 ? out_of_memory(load) : 0;
}

static int take_samples(struct load *load, struct ahead_chunk *chunk)
{
	const struct load_visitor *visitor = load->visitor;

	if (!chunk->is_decoded)
		return DAMAGED;
	if (!chunk->is_summed_up || summary_join(load->summary, &chunk->summary) < 0)
		return out_of_memory(load);
	return visitor->samples(visitor->arg, &chunk->batch, load->err);
}

static int take_names(struct load *load, struct cursor payload)
{
	const struct load_visitor *visitor = load->visitor;
	uint64_t bytes = (uint64_t)(payload.end - payload.at);
	struct name_list_reader names;

	if (name_list_read(&names, payload) < 0 ||
	    names.left > RECORDING_MAX_ALL_NAMES - load->summary->names ||
	    bytes > RECORDING_MAX_NAMES_BYTES - load->names_bytes)
		return DAMAGED;
	load->summary->names += names.left;
	load->names_bytes += bytes;
	return visitor->names ? visitor->names(visitor->arg, &names, load->err) : 0;
}

static int take_end(struct load *load, struct cursor payload)
{
	struct recording_end end;

	if (end_decode(payload, &end) < 0)
		return DAMAGED;
	load->summary->end = end;
	load->summary->has_end = true;
	return 0;
}

static int take_chunk(struct load *load, struct ahead_chunk *chunk)
{
	const struct cursor payload = {
		.at = chunk->payload.data,
		.end = chunk->payload.data + chunk->payload.size,
	};

	switch (chunk->type) {
	case CHUNK_INFO:
		return take_info(load, payload);
	case CHUNK_DOMAIN:
		return take_domain(load, payload);
	case CHUNK_SAMPLES:
		return take_samples(load, chunk);
	case CHUNK_NAMES:
		return take_names(load, payload);
	case CHUNK_END:
		return take_end(load, payload);
	default: /* of a later version, and not needed to read the rest */
		return 0;
	}
}

/* A chunk whose checksum is right and whose payload is not. */
static void count_damage(struct damage *damage, uint64_t from, uint64_t to)
{
	if (!damage->places++ || from < damage->first)
		damage->first = from;
	damage->bytes += to - from;
}

/* What the reader passed over, and @undecoded. */
static struct damage add_damage(const struct damage *reader,
				const struct damage *undecoded)
{
	struct damage sum = *reader;

	if (undecoded->places && (!sum.places || undecoded->first < sum.first))
		sum.first = undecoded->first;
	sum.places += undecoded->places;
	sum.bytes += undecoded->bytes;
	return sum;
}

/* Goes through all chunks; -1 with what the reader or the visitor said. */
static int take_chunks(struct load *load, struct ahead *ahead)
{
	struct damage undecoded = {0};

	for (;;) {
		struct ahead_chunk *chunk = ahead_next(ahead);
		int status;

		if (chunk->status < 0)
			return error_set(load->err, "%s: %s", load->input->name,
					 chunk->why.text);
		load->summary->bytes = chunk->end;
		load->summary->damage = add_damage(&chunk->damage, &undecoded);
		if (chunk->status == 0)
			return 0;
		status = take_chunk(load, chunk);
		if (status < 0)
			return -1;
		if (status == DAMAGED)
			count_damage(&undecoded, chunk->start, chunk->end);
		else
			load->summary->chunks++;
	}
}

int load_recording(const struct input *input, unsigned int threads,
		   struct summary *summary, const struct load_visitor *visitor,
		   struct error *err)
{
	struct load load = {
		.input = input,
		.summary = summary,
		.visitor = visitor,
		.err = err,
	};
	struct ahead *ahead = ahead_start(input->fd, threads, err);
	int status;

	if (!ahead)
		return -1;
	status = take_chunks(&load, ahead);
	ahead_stop(ahead);
	return status;
}

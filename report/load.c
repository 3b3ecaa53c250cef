/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/chunk.h"

/* How many chunks are read ahead, at most. Each takes memory. */
#define AHEAD 4

/* A chunk, as a thread of its own reads and decodes it for the one that has use for it:
 * the two take about as long, and any more threads would only wait. */
struct read_chunk {
	int status; /* reader_next()'s; else as below */
	struct error why;
	unsigned int type;
	struct buffer payload;	    /* but of samples, */
	struct samples_batch batch; /* which are decoded: */
	bool is_decoded;	    /* false: the payload makes no sense */
	uint64_t start, end;	    /* where in the recording */
	struct damage damage;	    /* what the reader passed over so far */
};

struct load {
	const struct input *input;
	struct summary *summary;
	const struct load_visitor *visitor;
	struct error *err;
	uint64_t names_bytes; /* of payloads, so far */

	struct reader *reader;
	struct read_chunk chunks[AHEAD]; /* used in turn, */
	sem_t free, filled;		 /* so many of them are */
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

static int take_samples(struct load *load, struct read_chunk *chunk)
{
	const struct load_visitor *visitor = load->visitor;

	if (!chunk->is_decoded)
		return DAMAGED;
	if (summary_add_samples(load->summary, &chunk->batch) < 0)
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

static int take_chunk(struct load *load, struct read_chunk *chunk)
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

/* Reads the next chunk, and decodes its samples. */
static void read_chunk(struct load *load, struct read_chunk *chunk)
{
	struct reader *reader = load->reader;
	uint64_t passed = reader_damage(reader)->bytes;
	struct cursor payload;

	chunk->start = reader_offset(reader);
	chunk->status = reader_next(reader, &chunk->type, &payload, &chunk->why);
	chunk->damage = *reader_damage(reader);
	chunk->start += chunk->damage.bytes - passed;
	chunk->end = reader_offset(reader);
	if (chunk->status <= 0)
		return;
	buffer_reset(&chunk->payload);
	if (chunk->type == CHUNK_SAMPLES) {
		chunk->is_decoded = samples_decode(payload, &chunk->batch) == 0;
		return;
	}
	buffer_put(&chunk->payload, payload.at, (size_t)(payload.end - payload.at));
	if (!chunk->payload.failed)
		return;
	error_set(&chunk->why, "not enough memory to read the recording");
	chunk->status = -1;
}

/* The thread; it ends with the recording, or when it is cancelled, which it can be where
 * it waits or reads. */
static void *read_ahead(void *context)
{
	struct load *load = context;
	size_t i = 0;
	int status;

	do {
		struct read_chunk *chunk = &load->chunks[i++ % AHEAD];

		sem_wait(&load->free);
		read_chunk(load, chunk);
		status = chunk->status;
		sem_post(&load->filled);
	} while (status > 0);
	return NULL;
}

/* Goes through all chunks; -1 with what the reader or the visitor said. */
static int take_chunks(struct load *load)
{
	struct damage undecoded = {0};

	for (size_t i = 0;; i++) {
		struct read_chunk *chunk = &load->chunks[i % AHEAD];
		int status;

		while (sem_wait(&load->filled) < 0)
			;
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
		sem_post(&load->free);
	}
}

static int run(struct load *load)
{
	pthread_t thread;
	int status = pthread_create(&thread, NULL, read_ahead, load);

	if (status)
		return error_errno(load->err, status, "can't start a thread");
	status = take_chunks(load);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	return status;
}

int load_recording(const struct input *input, struct summary *summary,
		   const struct load_visitor *visitor, struct error *err)
{
	struct load load = {
		.input = input,
		.summary = summary,
		.visitor = visitor,
		.err = err,
		.reader = reader_new(input->fd),
	};
	int status;

	if (!load.reader)
		return out_of_memory(&load);
	sem_init(&load.free, 0, AHEAD);
	sem_init(&load.filled, 0, 0);
	status = run(&load);
	sem_destroy(&load.free);
	sem_destroy(&load.filled);
	for (size_t i = 0; i < AHEAD; i++) {
		samples_batch_free(&load.chunks[i].batch);
		buffer_free(&load.chunks[i].payload);
	}
	reader_free(load.reader);
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load/load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/chunk.h"
#include "format/sums.h"
#include "report/load/ahead.h"
#include "report/load/memory.h"

struct load {
	const struct input *input;
	struct summary *summary;
	const struct load_visitor *visitor;
	struct error *err;
	struct recording_sums sums; /* sums of the chunks read so far */
	struct sequence sequence;
	struct damage undecoded; /* invalid payloads in intact chunks */
	uint64_t skipped;	 /* bytes of damage up to the last chunk taken */
	struct memory_bound memory;
	struct replay *frames; /* owned; used if the visitor has no replay */
	struct ahead_stacks stacks;
	/* Set by load_follow() only */
	struct reader *reader;
	struct ahead_chunk chunk;
};

int input_open(struct input *input, const char *path, struct error *err)
{
	struct stat st;

	*input = (struct input){.name = path, .fd = STDIN_FILENO};
	if (strcmp(path, "-") == 0) {
		input->name = "standard input";
		if (isatty(STDIN_FILENO))
			return error_set(err,
					 "refusing to read a recording from a terminal");
	} else {
		input->fd = open(path, O_RDONLY | O_CLOEXEC);
		if (input->fd < 0 && errno == ENOENT)
			return error_set(err,
					 "there is no recording %s (make one with "
					 "uniprof record, or name another)",
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
	return error_set(load->err, "out of memory reading %s", load->input->name);
}

/* Returned by the chunk handlers besides 0 and -1: the payload is invalid. */
#define DAMAGED 1

/*
 * Detects a second recording after the first, as written by `cat a b >c`: its samples
 * would be attributed to the domains of the first.
 */
static int check_info(const struct load *load, const struct recording_info *info,
		      uint64_t at)
{
	const char *name = load->input->name;

	if (!load->summary->has_info ||
	    memcmp(info, &load->summary->info, sizeof(*info)) == 0)
		return 0;
	return error_set(load->err,
			 "%s contains two recordings, one after the other: the second "
			 "starts at byte %" PRIu64 "; split it with head -c %" PRIu64
			 " and tail -c +%" PRIu64 ", and give both files",
			 name, at, at, at + 1);
}

static int take_info(struct load *load, struct cursor payload, uint64_t at)
{
	struct recording_info info;

	if (info_decode(payload, &info) < 0)
		return DAMAGED;
	if (info.version > RECORDING_VERSION)
		return error_set(
			load->err,
			"%s has format version %" PRIu64
			", but this uniprof supports only up to %d: use a newer uniprof",
			load->input->name, info.version, RECORDING_VERSION);
	if (check_info(load, &info, at) < 0)
		return -1;
	summary_add_info(load->summary, &info);
	return 0;
}

static int take_domain(struct load *load, struct cursor payload)
{
	const struct load_visitor *visitor = load->visitor;
	struct recording_domain domain;

	if (domain_decode(payload, &domain) < 0 || domain.index > RECORDING_MAX_DOMAIN)
		return DAMAGED;
	if (visitor->domain && visitor->domain(visitor->arg, &domain, load->err) < 0)
		return -1;
	return summary_add_domain(load->summary, &domain) < 0 ? out_of_memory(load) : 0;
}

static int take_samples(struct load *load, struct ahead_chunk *chunk)
{
	const struct load_visitor *visitor = load->visitor;

	if (!chunk->is_decoded)
		return chunk->batch.no_memory ? out_of_memory(load) : DAMAGED;
	if (!chunk->is_summed_up || summary_join(load->summary, &chunk->summary) < 0)
		return out_of_memory(load);
	if (load->reader && visitor->chunk)
		return visitor->chunk(visitor->arg, &chunk->batch,
				      &(struct chunk_read){cursor_of(&chunk->payload),
							   reader_whole(load->reader)},
				      load->err);
	return visitor->samples(visitor->arg, &chunk->batch, load->err);
}

static int take_waits(struct load *load, struct ahead_chunk *chunk)
{
	const struct load_visitor *visitor = load->visitor;

	if (!chunk->is_decoded)
		return chunk->waits.samples.no_memory ? out_of_memory(load) : DAMAGED;
	summary_add_waits(load->summary, &chunk->waits);
	return visitor->waits ? visitor->waits(visitor->arg, &chunk->waits, load->err)
			      : 0;
}

static int take_names(struct load *load, struct cursor payload)
{
	const struct load_visitor *visitor = load->visitor;
	struct name_list_reader names;

	if (name_list_read(&names, payload) < 0)
		return DAMAGED;
	load->summary->names += names.left;
	return visitor->names ? visitor->names(visitor->arg, &names, load->err) : 0;
}

static int take_mappings(struct load *load, struct cursor payload)
{
	const struct load_visitor *visitor = load->visitor;
	struct mapping_list_reader mappings;

	if (mapping_list_read(&mappings, payload) < 0)
		return DAMAGED;
	load->summary->mappings += mappings.left;
	return visitor->mappings ? visitor->mappings(visitor->arg, &mappings, load->err)
				 : 0;
}

static int take_program(struct load *load, struct cursor payload)
{
	const struct load_visitor *visitor = load->visitor;
	struct recording_program program;

	if (program_decode(payload, &program) < 0)
		return DAMAGED;
	if (load->summary->program_count == RECORDING_MAX_PROGRAMS)
		return 0;
	if (summary_add_program(load->summary, &program) < 0)
		return out_of_memory(load);
	return visitor->program ? visitor->program(visitor->arg, &program, load->err) : 0;
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

static int check_sums(struct load *load, const struct ahead_chunk *chunk)
{
	const struct recording_sums sums = ahead_chunk_sums(chunk);

	sums_add(&load->sums, &sums);
	if (sums_fit(&load->sums, chunk->end))
		return 0;
	return error_set(load->err,
			 "%s contains more than a recording of its size can: %" PRIu64
			 " samples, %" PRIu64 " call chain nodes and %" PRIu64
			 " names, %" PRIu64 " bytes in total, in its first %" PRIu64
			 " bytes; it is damaged or malicious",
			 load->input->name, load->sums.samples, load->sums.nodes,
			 load->sums.names, load->sums.payload, chunk->end);
}

static int take_chunk(struct load *load, struct ahead_chunk *chunk)
{
	const struct cursor payload = cursor_of(&chunk->payload);

	switch (chunk->type) {
	case CHUNK_INFO:
		return take_info(load, payload, chunk->start);
	case CHUNK_DOMAIN:
		return take_domain(load, payload);
	case CHUNK_SAMPLES:
		return take_samples(load, chunk);
	case CHUNK_WAITS:
		return take_waits(load, chunk);
	case CHUNK_NAMES:
		return take_names(load, payload);
	case CHUNK_MAPPINGS:
		return take_mappings(load, payload);
	case CHUNK_PROGRAM:
		return take_program(load, payload);
	case CHUNK_END:
		return take_end(load, payload);
	default: /* a type of a later version: older readers skip it */
		return 0;
	}
}

/* Counts a chunk with a correct checksum and an invalid payload. */
static void count_damage(struct damage *damage, uint64_t from, uint64_t to)
{
	if (!damage->places++ || from < damage->first)
		damage->first = from;
	damage->bytes += to - from;
}

/* Adds up what the reader skipped and @undecoded. */
static struct damage add_damage(const struct damage *reader,
				const struct damage *undecoded)
{
	struct damage sum = *reader;

	if (undecoded->places && (!sum.places || undecoded->first < sum.first))
		sum.first = undecoded->first;
	sum.places += undecoded->places;
	sum.bytes += undecoded->bytes;
	sum.out_of_place = undecoded->out_of_place;
	sum.missing = undecoded->missing;
	return sum;
}

/* Handles a chunk that is out of place: another recording that starts here is an error.
 */
static int take_stray(struct load *load, const struct ahead_chunk *chunk)
{
	struct recording_info info;

	load->undecoded.out_of_place++;
	if (chunk->type != CHUNK_INFO ||
	    info_decode(cursor_of(&chunk->payload), &info) < 0)
		return DAMAGED;
	return check_info(load, &info, chunk->start) < 0 ? -1 : DAMAGED;
}

/* Processes a chunk in its place. @is_after_damage: bytes were skipped before it, which
 * explains missing chunks. */
static int take_placed(struct load *load, struct ahead_chunk *chunk, bool is_after_damage)
{
	uint64_t missing;

	if (!sequence_take(&load->sequence, &chunk->place, &missing))
		return take_stray(load, chunk);
	if (!is_after_damage)
		load->undecoded.missing += missing;
	return take_chunk(load, chunk);
}

/* Processes what was read: 1 for a chunk, 0 for the end, -1 with @err set by the reader
 * or the visitor. */
static int take_read(struct load *load, struct ahead_chunk *chunk)
{
	struct summary *summary = load->summary;
	int status;

	if (chunk->status < 0)
		return error_set(load->err, "%s: %s", load->input->name, chunk->why.text);
	summary->bytes = chunk->end;
	summary->damage = add_damage(&chunk->damage, &load->undecoded);
	if (chunk->status == 0)
		return 0;
	memory_bound_raise(&load->memory, chunk->end);
	if (check_sums(load, chunk) < 0)
		return -1;
	status = take_placed(load, chunk, summary->damage.bytes > load->skipped);
	if (status < 0)
		return -1;
	if (status == DAMAGED) {
		count_damage(&load->undecoded, chunk->start, chunk->end);
		return 1;
	}
	load->skipped = summary->damage.bytes;
	summary->chunks++;
	return 1;
}

/* Chooses how captured stacks are unwound. False if out of memory. */
static bool choose_replay(struct load *load)
{
	if (!load->visitor->replay)
		load->frames = replay_new("");
	load->stacks.replay = load->visitor->replay ?: load->frames;
	load->stacks.summary = load->summary;
	return load->stacks.replay;
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
	struct ahead *ahead;
	int status = -1;

	memory_bound_begin(&load.memory, input->size, input->extra_memory);
	if (!choose_replay(&load))
		return out_of_memory(&load);
	ahead = ahead_start(input->fd, input->size, threads, &load.stacks, err);
	if (!ahead)
		goto out;
	do
		status = take_read(&load, ahead_next(ahead));
	while (status > 0);
	ahead_stop(ahead);
out:
	replay_free(load.frames);
	return status;
}

/* Passes the names or mappings of a chunk, if it is not damaged, to the visitor. */
static int pass_names(const struct load_visitor *visitor, unsigned int type,
		      struct cursor payload, struct error *err)
{
	struct mapping_list_reader mappings;
	struct name_list_reader names;

	if (type == CHUNK_MAPPINGS)
		return visitor->mappings && mapping_list_read(&mappings, payload) == 0
			       ? visitor->mappings(visitor->arg, &mappings, err)
			       : 0;
	return visitor->names && name_list_read(&names, payload) == 0
		       ? visitor->names(visitor->arg, &names, err)
		       : 0;
}

/* Passes what the reader's chunks have to the visitor, as long as it is within the limits
 * of a recording. */
static int take_all_names(struct reader *reader, struct memory_bound *memory,
			  const struct load_visitor *visitor, struct error *err)
{
	struct recording_sums sums = {0};
	struct cursor payload;
	struct error ignored;
	unsigned int type;

	while (reader_next(reader, &type, &payload, &ignored) > 0) {
		const struct recording_sums more = {
			.names = type == CHUNK_NAMES ? name_list_count(payload)
						     : mapping_list_count(payload),
			.names_payload = (uint64_t)(payload.end - payload.at),
		};

		sums_add(&sums, &more);
		if (!sums_fit(&sums, reader_offset(reader)))
			break;
		memory_bound_raise(memory, reader_offset(reader));
		if (pass_names(visitor, type, payload, err) < 0)
			return -1;
	}
	return 0;
}

bool load_has_mappings(const struct input *input)
{
	uint8_t bytes[CHUNK_HEADER_SIZE];
	struct chunk_header header;
	int64_t at = input->start;

	for (;;) {
		ssize_t size = pread(input->fd, bytes, sizeof(bytes), (off_t)at);

		if (size == 0)
			return false;
		if (size != sizeof(bytes) || !chunk_header_decode(bytes, &header) ||
		    header.type == CHUNK_MAPPINGS)
			return true;
		at += CHUNK_HEADER_SIZE + (int64_t)header.stored;
	}
}

int load_names(const struct input *input, const struct load_visitor *visitor,
	       struct error *err)
{
	struct reader *reader = reader_new(input->fd);
	struct memory_bound memory;
	int status;

	if (!reader)
		return error_set(err, "out of memory reading %s", input->name);
	reader_only(reader, CHUNK_NAMES, CHUNK_MAPPINGS);
	memory_bound_begin(&memory, input->size, input->extra_memory);
	status = take_all_names(reader, &memory, visitor, err);
	reader_free(reader);
	return status < 0 ? -1 : input_rewind(input, err);
}

struct load *load_follow(const struct input *input, struct summary *summary,
			 const struct load_visitor *visitor, struct error *err)
{
	struct load *load = calloc(1, sizeof(*load));

	if (load) {
		load->input = input;
		load->summary = summary;
		load->visitor = visitor;
		load->reader = reader_new(input->fd);
	}
	if (load && load->reader && choose_replay(load)) {
		reader_follow(load->reader);
		return load;
	}
	load_free(load);
	error_set(err, "out of memory reading %s", input->name);
	return NULL;
}

void load_free(struct load *load)
{
	if (!load)
		return;
	ahead_chunk_free(&load->chunk);
	replay_free(load->frames);
	reader_free(load->reader);
	free(load);
}

int load_more(struct load *load, struct error *err)
{
	int status;

	load->err = err;
	/* Since the last call, other parts of the process have used memory. */
	memory_bound_begin(&load->memory, load->summary->bytes,
			   load->input->extra_memory);
	do {
		ahead_chunk_read(&load->chunk, load->reader, &load->stacks);
		status = take_read(load, &load->chunk);
	} while (status > 0);
	if (status < 0)
		return -1;
	return !load->summary->has_end && !reader_ended(load->reader);
}

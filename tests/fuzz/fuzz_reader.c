/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Recordings with arbitrary contents. Build with -fsanitize=fuzzer,address,undefined and
 * run on tests/fuzz/corpus/reader. The first byte of the input selects what the rest is:
 *
 *   0  a file
 *   1  a file whose checksums are corrected first, so that they hide nothing
 *   2  the payload of a chunk, whose type is the next byte
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/chunk.h"
#include "format/mapping_list.h"
#include "format/name_list.h"
#include "format/place.h"
#include "format/reader.h"
#include "format/samples.h"
#include "format/waits.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/mend.h"

#define TYPES	   9	  /* the known ones, and one more on each side */
#define AGAIN_MOST 100000 /* addresses in a batch that is encoded again */

static void check_info(struct cursor payload)
{
	struct recording_info info, again;
	struct buffer encoded = {0};

	if (info_decode(payload, &info) < 0)
		return;
	check(memchr(info.tool, 0, sizeof(info.tool)) != NULL);
	check(memchr(info.host, 0, sizeof(info.host)) != NULL);
	check(memchr(info.command, 0, sizeof(info.command)) != NULL);
	check(memchr(info.hypervisor, 0, sizeof(info.hypervisor)) != NULL);
	info_encode(&encoded, &info);
	check(info_decode(cursor_of(&encoded), &again) == 0);
	check(info.version == again.version && info.time_limit == again.time_limit);
	check(strcmp(info.command, again.command) == 0);
	buffer_free(&encoded);
}

static void check_domain(struct cursor payload)
{
	struct recording_domain domain, again;
	struct buffer encoded = {0};

	if (domain_decode(payload, &domain) < 0)
		return;
	check(memchr(domain.name, 0, sizeof(domain.name)) != NULL);
	domain_encode(&encoded, &domain);
	check(domain_decode(cursor_of(&encoded), &again) == 0);
	check(strcmp(domain.name, again.name) == 0);
	check(memcmp(domain.uuid, again.uuid, sizeof(domain.uuid)) == 0);
	buffer_free(&encoded);
}

static void check_end(struct cursor payload)
{
	struct recording_end end, again;
	struct buffer encoded = {0};

	if (end_decode(payload, &end) < 0)
		return;
	check(end_reason_name((unsigned int)end.reason)[0] != 0);
	end_encode(&encoded, &end);
	check(end_decode(cursor_of(&encoded), &again) == 0);
	check(memcmp(&end, &again, sizeof(end)) == 0);
	buffer_free(&encoded);
}

/* Checks all guarantees of samples_decode(); returns the number of addresses in chains.
 */
static size_t check_batch(const struct samples_batch *batch)
{
	size_t addresses = 0;

	check(batch->count <= RECORDING_MAX_SAMPLES);
	check(batch->nodes >= SAMPLES_ROOTS);
	check(batch->nodes <= RECORDING_MAX_NODES + SAMPLES_ROOTS);
	for (size_t i = 0; i < batch->nodes; i++) {
		uint32_t parent = batch->parent[i];

		check(i < SAMPLES_ROOTS ? parent == i : parent < i);
		check(batch->depth[i] ==
		      (i < SAMPLES_ROOTS ? 0 : batch->depth[parent] + 1));
		check(batch->depth[i] <= RECORDING_MAX_DEPTH);
	}
	for (size_t i = 0; i < batch->count; i++) {
		check(batch->domain[i] <= RECORDING_MAX_DOMAIN);
		check(batch->vcpu[i] <= RECORDING_MAX_VCPU);
		check(batch->state[i] <= UINT8_MAX);
		check(batch->weight[i] >= 1 && batch->weight[i] <= RECORDING_MAX_WEIGHT);
		check(batch->stack[i] < batch->nodes);
		check(batch->cpu_time[i] <= RECORDING_MAX_CPU_TIME);
		check(batch->has_cpu_time || batch->cpu_time[i] == 0);
		addresses += batch->depth[batch->stack[i]];
	}
	return addresses;
}

/* Checks that encoding and decoding again gives equal samples. */
static void check_again(const struct samples_batch *batch)
{
	uint64_t chain[RECORDING_MAX_DEPTH], chain_again[RECORDING_MAX_DEPTH];
	struct samples_encoder *encoder = samples_encoder_new();
	struct samples_batch again = {0};
	struct buffer payload = {0};

	check(encoder != NULL);
	for (size_t i = 0; i < batch->count; i++) {
		struct sample sample = samples_batch_sample(batch, i, chain);

		check(samples_encoder_add(encoder, &sample) == 0);
	}
	samples_encoder_finish(encoder, &batch->counts, &payload);
	check(samples_decode(cursor_of(&payload), &again) == 0);
	check(again.count == batch->count);
	check(memcmp(&again.counts, &batch->counts, sizeof(again.counts)) == 0);
	for (size_t i = 0; i < batch->count; i++) {
		struct sample one = samples_batch_sample(batch, i, chain);
		struct sample other = samples_batch_sample(&again, i, chain_again);

		check(one.time == other.time && one.domain == other.domain);
		check(one.vcpu == other.vcpu && one.state == other.state);
		check(one.cpu_time == other.cpu_time);
		check(one.has_cpu_time == other.has_cpu_time);
		check(one.weight == other.weight && one.chain.end == other.chain.end);
		check(one.chain.count == other.chain.count);
		check(!memcmp(chain, chain_again, one.chain.count * sizeof(chain[0])));
	}
	samples_batch_free(&again);
	samples_encoder_free(encoder);
	buffer_free(&payload);
}

static void check_samples(struct cursor payload, struct samples_batch *batch)
{
	static const double parts[] = {0, 0.5, 0.99, 0.999999, 1};

	if (samples_decode(payload, batch) < 0) {
		check(batch->count == 0);
		return;
	}
	if (check_batch(batch) <= AGAIN_MOST && batch->count <= AGAIN_MOST)
		check_again(batch);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		check(pauses_quantile(&batch->counts.pauses, parts[i]) <=
		      batch->counts.pauses.max);
}

static void check_program(struct cursor payload)
{
	struct recording_program program, again;
	struct buffer encoded = {0};

	if (program_decode(payload, &program) < 0)
		return;
	check(memchr(program.name, 0, sizeof(program.name)) != NULL);
	check(memchr(program.path, 0, sizeof(program.path)) != NULL);
	check(memchr(program.domain, 0, sizeof(program.domain)) != NULL);
	check(memchr(program.build_id, 0, sizeof(program.build_id)) != NULL);
	program_encode(&encoded, &program);
	check(program_decode(cursor_of(&encoded), &again) == 0);
	check(strcmp(program.path, again.path) == 0 && program.image == again.image);
	check(!memcmp(program.segments, again.segments, sizeof(program.segments)));
	buffer_free(&encoded);
}

static bool is_same_text(struct recording_text one, struct recording_text other)
{
	return one.length == other.length &&
	       (!one.length || !memcmp(one.at, other.at, one.length));
}

static void check_same_lines(const struct recording_name *name,
			     const struct recording_name *again)
{
	check(name->is_symbol == again->is_symbol);
	check(name->is_common == again->is_common && name->is_last == again->is_last);
	check(name->line_count <= RECORDING_MAX_LINES);
	check(name->line_count == again->line_count);
	for (uint32_t i = 0; i < name->line_count; i++) {
		const struct recording_line *one = &name->lines[i];
		const struct recording_line *other = &again->lines[i];

		check(one->line == other->line && is_same_text(one->path, other->path));
		check(is_same_text(one->function, other->function));
	}
}

static void check_same_text(struct recording_text text, struct recording_text other)
{
	check(text.length == other.length);
	check(!text.length || !memcmp(text.at, other.at, text.length));
}

/* Checks all guarantees of name_list_read(), and that encoding again gives the same
 * names. */
static void check_names(struct cursor payload)
{
	struct name_list_reader names, names_again;
	struct recording_name name, again;
	struct name_list list = {0};
	struct buffer encoded = {0};
	uint64_t count = 0;

	if (name_list_read(&names, payload) < 0)
		return;
	check(names.left <= RECORDING_MAX_NAMES);
	names_again = names;
	while (name_list_next(&names_again, &name)) {
		check(name.domain <= RECORDING_MAX_DOMAIN);
		check(name.name.length >= 1 && name.name.length <= RECORDING_MAX_NAME);
		check(name.name.at[0] && name.dso.length <= RECORDING_MAX_NAME);
		name_list_add(&list, &name);
		count++;
	}
	check(count == names.left);
	name_list_finish(&list, &encoded);
	check(name_list_read(&names_again, cursor_of(&encoded)) == 0);
	while (name_list_next(&names, &name)) {
		check(name_list_next(&names_again, &again));
		check(name.domain == again.domain && name.address == again.address);
		check(name.offset == again.offset);
		check(name.name.length == again.name.length);
		check(!memcmp(name.name.at, again.name.at, name.name.length));
		check(name.dso.length == again.dso.length);
		check_same_text(name.file_path, again.file_path);
		check_same_text(name.file_build_id, again.file_build_id);
		check_same_lines(&name, &again);
	}
	name_list_free(&list);
	buffer_free(&encoded);
}

/* Checks all guarantees of mapping_list_read(), and that encoding again gives the same
 * mappings. */
static void check_mappings(struct cursor payload)
{
	struct mapping_list_reader reader, again;
	struct recording_mapping mapping, other;
	struct mapping_list list = {0};
	struct buffer encoded = {0};
	uint64_t count = 0;

	if (mapping_list_read(&reader, payload) < 0)
		return;
	check(reader.left <= RECORDING_MAX_NAMES);
	again = reader;
	while (mapping_list_next(&again, &mapping)) {
		check(mapping.domain <= RECORDING_MAX_DOMAIN && mapping.size);
		check(mapping.path.length <= RECORDING_MAX_PATH);
		check(mapping.build_id.length <= RECORDING_MAX_BUILD_ID);
		mapping_list_add(&list, &mapping);
		count++;
	}
	check(count == reader.left);
	mapping_list_finish(&list, &encoded);
	check(mapping_list_read(&again, cursor_of(&encoded)) == 0);
	while (mapping_list_next(&reader, &mapping)) {
		check(mapping_list_next(&again, &other));
		check(mapping.domain == other.domain && mapping.space == other.space);
		check(mapping.pid == other.pid && mapping.time == other.time);
		check(mapping.start == other.start && mapping.size == other.size);
		check(mapping.offset == other.offset);
		check_same_text(mapping.path, other.path);
		check_same_text(mapping.build_id, other.build_id);
	}
	mapping_list_free(&list);
	buffer_free(&encoded);
}

/* Checks all guarantees of waits_decode(), and that encoding and decoding again gives
 * equal waits. */
static void check_waits(struct cursor payload)
{
	uint64_t chain[RECORDING_MAX_DEPTH], chain_again[RECORDING_MAX_DEPTH];
	struct waits_encoder *encoder = waits_encoder_new();
	struct waits_batch batch = {0}, again = {0};
	struct buffer encoded = {0};

	check(encoder != NULL);
	if (waits_decode(payload, &batch) == 0) {
		check_batch(&batch.samples);
		for (size_t i = 0; i < batch.samples.count; i++) {
			struct wait wait = waits_batch_wait(&batch, i, chain);

			check(wait.from <= wait.to && wait.to <= batch.counts.until);
			check(wait.is_over || wait.to == batch.counts.until);
			check(wait_state_name(wait.state)[0] != 0);
			check(waits_encoder_add(encoder, &wait) == 0);
		}
		waits_encoder_finish(encoder, &batch.counts, &encoded);
		check(waits_decode(cursor_of(&encoded), &again) == 0);
		check(again.samples.count == batch.samples.count);
		check(memcmp(&again.counts, &batch.counts, sizeof(again.counts)) == 0);
		for (size_t i = 0; i < batch.samples.count; i++) {
			struct wait one = waits_batch_wait(&batch, i, chain);
			struct wait other = waits_batch_wait(&again, i, chain_again);

			check(one.from == other.from && one.to == other.to);
			check(one.is_over == other.is_over && one.state == other.state);
			check(one.process.tid == other.process.tid);
			check(!strcmp(one.process.thread, other.process.thread));
			check(one.chain.count == other.chain.count);
			check(one.chain.end == other.chain.end);
		}
	}
	waits_encoder_free(encoder);
	waits_batch_free(&batch);
	waits_batch_free(&again);
	buffer_free(&encoded);
}

static void check_payload(unsigned int type, struct cursor payload,
			  struct samples_batch *batch)
{
	check(payload.end - payload.at <= RECORDING_MAX_PAYLOAD);
	switch (type) {
	case CHUNK_INFO:
		check_info(payload);
		break;
	case CHUNK_DOMAIN:
		check_domain(payload);
		break;
	case CHUNK_SAMPLES:
		check_samples(payload, batch);
		break;
	case CHUNK_END:
		check_end(payload);
		break;
	case CHUNK_NAMES:
		check_names(payload);
		break;
	case CHUNK_PROGRAM:
		check_program(payload);
		break;
	case CHUNK_WAITS:
		check_waits(payload);
		break;
	case CHUNK_MAPPINGS:
		check_mappings(payload);
		break;
	default:
		break;
	}
}

/* A chunk that is taken is above all before it; one that is not changes nothing. */
static void check_place(struct sequence *sequence, struct cursor payload)
{
	const struct chunk_place place = place_of(payload);
	const struct sequence before = *sequence;
	uint64_t missing;

	if (!sequence_take(sequence, &place, &missing)) {
		check(!missing && before.has_mark && sequence->next == before.next);
		return;
	}
	check(place.is_known == sequence->has_mark);
	check(!place.is_known || place.number - missing == before.next);
	check(!place.is_known || sequence->next > before.next ||
	      place.number == UINT64_MAX);
}

static void check_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct samples_batch batch = {0};
	struct sequence sequence = {0};
	const struct damage *damage;
	struct cursor payload;
	struct reader *reader;
	struct error err = {""};
	unsigned int type;
	uint64_t last = 0;
	int status;

	check(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	reader = reader_new(fd);
	check(reader != NULL);
	while ((status = reader_next(reader, &type, &payload, &err)) > 0) {
		check(type <= UINT16_MAX);
		check(reader_offset(reader) >= last + CHUNK_HEADER_SIZE);
		last = reader_offset(reader);
		check_place(&sequence, payload);
		check_payload(type, payload, &batch);
	}
	damage = reader_damage(reader);
	check(status == 0 || err.text[0]);
	check(reader_offset(reader) == size);
	check(damage->bytes <= size);
	check((damage->bytes == 0) == (damage->places == 0));
	check(damage->first <= size);
	reader_free(reader);
	samples_batch_free(&batch);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct samples_batch batch = {0};
	uint8_t *copy;

	if (size < 2)
		return 0;
	/* A copy of the exact size, so that a read beyond it is detected. */
	copy = malloc(size - 1);
	check(copy != NULL);
	memcpy(copy, data + 1, size - 1);
	switch (data[0]) {
	case 0:
		check_file(copy, size - 1);
		break;
	case 1:
		mend_checksums(copy, size - 1);
		check_file(copy, size - 1);
		break;
	case 2:
		check_payload(copy[0] % TYPES,
			      (struct cursor){copy + 1, copy + size - 1, false}, &batch);
		samples_batch_free(&batch);
		break;
	default:
		break;
	}
	free(copy);
	return 0;
}

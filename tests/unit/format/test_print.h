/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_FORMAT_TEST_PRINT_H
#define UNIPROF_TESTS_UNIT_FORMAT_TEST_PRINT_H

/* Prints the results of the C reader in the form of read.py. */

#include <ctype.h>
#include <inttypes.h>

#include "format/mapping_list.h"
#include "format/name_list.h"
#include "format/place.h"
#include "tests/unit/test_recording.h"

static inline void print_hex(FILE *to, const char *text)
{
	fputc(' ', to);
	for (; *text; text++)
		fprintf(to, "%02x", (unsigned char)*text);
}

static inline void print_info(FILE *to, struct cursor payload)
{
	struct recording_info info;

	if (info_decode(payload, &info) < 0) {
		fprintf(to, "info damaged\n");
		return;
	}
	fprintf(to,
		"info %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		" %" PRIu64,
		info.version, info.domctl_version, info.wall_start, info.monotonic_start,
		info.frequency, info.time_limit);
	print_hex(to, info.tool);
	print_hex(to, info.host);
	print_hex(to, info.command);
	print_hex(to, info.hypervisor);
	print_hex(to, info.event);
	fprintf(to, "\n");
}

static inline void print_domain(FILE *to, struct cursor payload)
{
	struct recording_domain domain;
	size_t last = RECORDING_MOVES;

	if (domain_decode(payload, &domain) < 0) {
		fprintf(to, "domain damaged\n");
		return;
	}
	while (last && !domain.moves[last - 1])
		last--;
	fprintf(to,
		"domain %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		" %" PRIu64,
		domain.index, domain.id, domain.type, domain.cpu, domain.word,
		domain.vcpus);
	print_hex(to, domain.name);
	fprintf(to, " ");
	for (size_t i = 0; i < sizeof(domain.uuid); i++)
		fprintf(to, "%02x", domain.uuid[i]);
	fprintf(to, " %" PRIu64 " %" PRIu64, domain.unwind_way, domain.table_rows);
	print_hex(to, domain.table_files);
	print_hex(to, domain.build_ids);
	print_hex(to, domain.vmm);
	fprintf(to, " %" PRIu64, domain.linux_text);
	for (size_t i = 0; i < last; i++)
		fprintf(to, " %" PRIx64, domain.moves[i]);
	fprintf(to, "\n");
}

/* Prints process and thread, with names in hexadecimal. */
static inline void print_process(FILE *to, const struct recording_process *process)
{
	fprintf(to, " %" PRIx64 " %" PRIu32 " ", process->space, process->pid);
	for (const char *at = process->comm; *at; at++)
		fprintf(to, "%02x", (uint8_t)*at);
	fprintf(to, "- %" PRIu64 " ", process->tid);
	for (const char *at = process->thread; *at; at++)
		fprintf(to, "%02x", (uint8_t)*at);
	fprintf(to, "-");
}

static inline void print_chain(FILE *to, const struct chain *chain)
{
	fprintf(to, " %u", (unsigned int)chain->end);
	for (uint32_t j = 0; j < chain->count; j++)
		fprintf(to, " %" PRIx64, chain->address[j]);
	fprintf(to, "\n");
}

static inline void print_waits(FILE *to, struct cursor payload)
{
	static struct waits_batch batch;
	static uint64_t address[RECORDING_MAX_DEPTH];
	const struct waits_counts *counts = &batch.counts;

	if (waits_decode(payload, &batch) < 0) {
		fprintf(to, "waits damaged\n");
		return;
	}
	for (size_t i = 0; i < batch.samples.count; i++) {
		struct wait wait = waits_batch_wait(&batch, i, address);

		fprintf(to, "wait %" PRIu64 " %" PRIu64 " %d %u %u", wait.from, wait.to,
			wait.is_over, wait.domain, wait.state);
		print_process(to, &wait.process);
		print_chain(to, &wait.chain);
	}
	fprintf(to, "rounds %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
		counts->until, counts->period, counts->rounds, counts->skipped,
		counts->threads);
	fprintf(to, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", counts->read,
		counts->torn, counts->unread, counts->cpu_time);
}

static inline void print_samples(FILE *to, struct cursor payload)
{
	static struct samples_batch batch;
	static uint64_t address[RECORDING_MAX_DEPTH];

	if (samples_decode(payload, &batch) < 0) {
		fprintf(to, "samples damaged\n");
		return;
	}
	for (size_t i = 0; i < batch.count; i++) {
		struct sample sample = samples_batch_sample(&batch, i, address);

		fprintf(to, "sample %" PRIu64 " %u %u %u %u", sample.time, sample.domain,
			sample.vcpu, sample.state, sample.weight);
		if (sample.has_cpu_time)
			fprintf(to, " %" PRIu64, sample.cpu_time);
		else
			fprintf(to, " -");
		fprintf(to, " %u", sample.chain.is_stack ? 2 : sample.chain.frameless);
		print_process(to, &sample.process);
		print_chain(to, &sample.chain);
	}
	fprintf(to, "counts %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
		batch.counts.lost, batch.counts.missed, batch.counts.pauses.sum,
		batch.counts.pauses.max);
	for (unsigned int i = 0; i < PAUSES_BUCKETS; i++)
		if (batch.counts.pauses.bucket[i])
			fprintf(to, " %" PRIu64 ":%" PRIu64, pauses_bucket_start(i),
				batch.counts.pauses.bucket[i]);
	fprintf(to, "\n");
}

static inline void print_end(FILE *to, struct cursor payload)
{
	struct recording_end end;

	if (end_decode(payload, &end) < 0)
		fprintf(to, "end damaged\n");
	else
		fprintf(to,
			"end %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			" %" PRIu64 " %" PRIu64 "\n",
			end.reason, end.monotonic, end.samples, end.lost, end.missed,
			end.pauses, end.paused);
}

static inline void print_text(FILE *to, struct recording_text text)
{
	char *copy = strndup(text.at, text.length);

	assert_non_null(copy);
	print_hex(to, copy);
	free(copy);
}

static inline void print_bytes(FILE *to, struct recording_text bytes)
{
	fprintf(to, " ");
	for (size_t i = 0; i < bytes.length; i++)
		fprintf(to, "%02x", (unsigned char)bytes.at[i]);
}

static inline void print_names(FILE *to, struct cursor payload)
{
	struct name_list_reader names;
	struct recording_name name;

	if (name_list_read(&names, payload) < 0) {
		fprintf(to, "names damaged\n");
		return;
	}
	while (name_list_next(&names, &name)) {
		fprintf(to, "name %u %" PRIx64 " %" PRIu64, name.domain, name.address,
			name.offset);
		print_text(to, name.name);
		print_text(to, name.dso);
		fprintf(to, " %d",
			name.is_symbol + 2 * name.is_common + 4 * name.is_last);
		print_text(to, name.file_path);
		print_bytes(to, name.file_build_id);
		for (uint32_t i = 0; i < name.line_count; i++) {
			print_text(to, name.lines[i].function);
			print_text(to, name.lines[i].path);
			fprintf(to, " %u", name.lines[i].line);
		}
		fprintf(to, "\n");
	}
}

static inline void print_mappings(FILE *to, struct cursor payload)
{
	struct mapping_list_reader mappings;
	struct recording_mapping mapping;

	if (mapping_list_read(&mappings, payload) < 0) {
		fprintf(to, "mappings damaged\n");
		return;
	}
	while (mapping_list_next(&mappings, &mapping)) {
		fprintf(to,
			"mapping %u %" PRIu64 " %u %" PRIu64 " %" PRIx64 " %" PRIu64
			" %" PRIu64,
			mapping.domain, mapping.space, mapping.pid, mapping.time,
			mapping.start, mapping.size, mapping.offset);
		print_text(to, mapping.path);
		print_bytes(to, mapping.build_id);
		fprintf(to, "\n");
	}
}

static inline void print_program(FILE *to, struct cursor payload)
{
	struct recording_program program;

	if (program_decode(payload, &program) < 0) {
		fprintf(to, "program damaged\n");
		return;
	}
	fprintf(to, "program");
	print_hex(to, program.name);
	print_hex(to, program.path);
	print_hex(to, program.domain);
	print_hex(to, program.build_id);
	fprintf(to, " %" PRIu64 " %" PRIx64, program.has_lines, program.image);
	for (size_t i = 0; i < RECORDING_SEGMENTS && program.segments[i][1]; i++)
		fprintf(to, " %" PRIx64 " %" PRIx64 " %" PRIx64, program.segments[i][0],
			program.segments[i][1], program.segments[i][2]);
	fprintf(to, "\n");
}

static inline void print_place(FILE *to, struct sequence *sequence, struct cursor payload)
{
	const struct chunk_place place = place_of(payload);
	uint64_t missing;

	if (!sequence_take(sequence, &place, &missing))
		fprintf(to, "out of place\n");
	else if (missing)
		fprintf(to, "missing %" PRIu64 "\n", missing);
}

static inline void print_file(FILE *to, const struct buffer *bytes)
{
	int fd = file_with(bytes->data, bytes->size);
	struct reader *reader = reader_new(fd);
	struct sequence sequence = {0};
	const struct damage *damage;
	struct cursor payload;
	struct error err;
	unsigned int type;
	int status;

	assert_non_null(reader);
	while ((status = reader_next(reader, &type, &payload, &err)) > 0) {
		print_place(to, &sequence, payload);
		switch (type) {
		case CHUNK_INFO:
			print_info(to, payload);
			break;
		case CHUNK_DOMAIN:
			print_domain(to, payload);
			break;
		case CHUNK_SAMPLES:
			print_samples(to, payload);
			break;
		case CHUNK_END:
			print_end(to, payload);
			break;
		case CHUNK_NAMES:
			print_names(to, payload);
			break;
		case CHUNK_PROGRAM:
			print_program(to, payload);
			break;
		case CHUNK_WAITS:
			print_waits(to, payload);
			break;
		case CHUNK_MAPPINGS:
			print_mappings(to, payload);
			break;
		default:
			fprintf(to, "chunk %u of %td bytes\n", type,
				payload.end - payload.at);
		}
	}
	damage = reader_damage(reader);
	fprintf(to, "%s, passed over %" PRIu64 " bytes in %" PRIu64 " places%s\n",
		status ? "no recording" : "done", damage->bytes, damage->places,
		damage->cut ? ", cut" : "");
	reader_free(reader);
	close(fd);
}

#endif

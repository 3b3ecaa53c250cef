/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_TEST_RECORDING_H
#define UNIPROF_TESTS_UNIT_TEST_RECORDING_H

/*
 * Shared by the tests of format/: files in memory, random samples, recordings made of
 * them, and chunks with correct checksums around any content. A file that includes this
 * must define _GNU_SOURCE first.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/compat.h"
#include "format/chunk.h"
#include "format/reader.h"
#include "format/samples.h"
#include "format/writer.h"
#include "base/random.h"

/* An open file with these bytes, positioned at its start. */
static inline int file_with(const void *data, size_t size)
{
	int fd = memfd_create("uniprof-test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	if (size)
		assert_int_equal(pwrite(fd, data, size, 0), size);
	return fd;
}

/* Reads the whole file, and closes it. */
static inline void take_file(int fd, struct buffer *bytes)
{
	off_t size = lseek(fd, 0, SEEK_END);

	assert_true(size >= 0);
	buffer_reset(bytes);
	assert_non_null(buffer_extend(bytes, (size_t)size));
	assert_int_equal(pread(fd, bytes->data, (size_t)size, 0), size);
	close(fd);
}

/* Incompressible bytes. */
static inline void fill_random(struct buffer *bytes, size_t size)
{
	uint64_t seed = size;
	uint8_t *to;

	buffer_reset(bytes);
	to = buffer_extend(bytes, size);
	assert_non_null(to);
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)random_next(&seed);
}

/* Samples and the memory for their chains. */
struct samples {
	size_t count;
	struct sample *at;
};

static inline struct samples samples_new(size_t count)
{
	struct samples samples = {count, calloc(count, sizeof(struct sample))};

	assert_non_null(samples.at);
	for (size_t i = 0; i < count; i++) {
		samples.at[i].weight = 1;
		samples.at[i].chain.address = calloc(CHAIN_MAX, sizeof(uint64_t));
		assert_non_null(samples.at[i].chain.address);
	}
	return samples;
}

static inline void samples_free(struct samples *samples)
{
	for (size_t i = 0; i < samples->count; i++)
		free(samples->at[i].chain.address);
	free(samples->at);
}

/* Samples like those of a guest: chains that share most of their frames. */
static inline struct samples likely_samples(size_t count, uint64_t *seed)
{
	struct samples samples = samples_new(count);
	uint64_t time = 1000000000000;

	for (size_t i = 0; i < count; i++) {
		struct sample *sample = &samples.at[i];
		struct chain *chain = &sample->chain;

		sample->time = time += 10000000 + random_next(seed) % 1000;
		sample->vcpu = i % 2;
		sample->state = random_next(seed) % 4;
		chain->count = 1 + random_next(seed) % 12;
		chain->end = random_next(seed) % CHAIN_ENDS;
		for (uint32_t j = 0; j < chain->count; j++)
			chain->address[chain->count - 1 - j] = 0xffffffff81000000 +
							       j * 0x1000 +
							       random_next(seed) % 3 *
								       0x10;
	}
	return samples;
}

static inline void expect_sample(const struct sample *sample, const struct sample *wanted)
{
	assert_int_equal(sample->time, wanted->time);
	assert_int_equal(sample->domain, wanted->domain);
	assert_int_equal(sample->vcpu, wanted->vcpu);
	assert_int_equal(sample->weight, wanted->weight);
	assert_int_equal(sample->state, wanted->state);
	assert_int_equal(sample->cpu_time, wanted->cpu_time);
	assert_int_equal(sample->has_cpu_time, wanted->has_cpu_time);
	assert_int_equal(sample->chain.end, wanted->chain.end);
	assert_int_equal(sample->chain.frameless, wanted->chain.frameless);
	assert_int_equal(sample->chain.is_stack, wanted->chain.is_stack);
	assert_int_equal(sample->exit, wanted->exit);
	assert_int_equal(sample->process.space, wanted->process.space);
	assert_int_equal(sample->process.pid, wanted->process.pid);
	assert_string_equal(sample->process.comm, wanted->process.comm);
	assert_int_equal(sample->process.tid, wanted->process.tid);
	assert_string_equal(sample->process.thread, wanted->process.thread);
	assert_int_equal(sample->chain.count, wanted->chain.count);
	assert_memory_equal(sample->chain.address, wanted->chain.address,
			    wanted->chain.count * sizeof(uint64_t));
}

/* Checks that the batch contains exactly these samples, in this order. */
static inline void expect_samples(const struct samples_batch *batch,
				  const struct sample *wanted, size_t count)
{
	static uint64_t address[RECORDING_MAX_DEPTH];

	assert_int_equal(batch->count, count);
	for (size_t i = 0; i < count; i++) {
		struct sample sample = samples_batch_sample(batch, i, address);

		expect_sample(&sample, &wanted[i]);
	}
}

static inline struct recording_info test_info(void)
{
	return (struct recording_info){
		.version = RECORDING_VERSION,
		.tool = "uniprof test",
		.host = "dom0.example",
		.command = "uniprof record -F 100 web",
		.hypervisor = "Xen 4.17.3",
		.domctl_version = 0x15,
		.wall_start = 1700000000000000000,
		.monotonic_start = 1000000000000,
		.frequency = 100000,
		.time_limit = 10000000000,
	};
}

static inline struct recording_domain test_domain(void)
{
	return (struct recording_domain){
		.index = 0,
		.id = 7,
		.type = GUEST_PVH,
		.cpu = CPU_X86_64,
		.word = 8,
		.vcpus = 2,
		.name = "web",
		.uuid = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	};
}

/* The bytes of a recording of these samples, flushed after every @each of them. */
static inline void record(const struct samples *samples, size_t each,
			  struct buffer *bytes)
{
	struct recording_info info = test_info();
	struct recording_domain domain = test_domain();
	struct recording_end end = {.reason = END_TIME, .monotonic = 1010000000000};
	struct error err = {""};
	int fd = file_with(NULL, 0);
	struct writer *writer = writer_new(fd, &info, &domain, 1, &err);

	assert_non_null(writer);
	for (size_t i = 0; i < samples->count; i++) {
		assert_int_equal(writer_sample(writer, &samples->at[i], &err), 0);
		pauses_add(&writer_counts(writer)->pauses, 20000 + i);
		if ((i + 1) % each == 0)
			assert_int_equal(writer_flush(writer, &err), 0);
	}
	assert_int_equal(writer_end(writer, &end, &err), 0);
	writer_free(writer);
	take_file(fd, bytes);
}

/* A header with correct checksums and any content, and the bytes that follow it. */
static inline void put_chunk(struct buffer *file, uint16_t type, uint16_t encoding,
			     const void *stored, uint32_t stored_size,
			     uint32_t payload_size)
{
	uint8_t header[CHUNK_HEADER_SIZE];

	memcpy(header, CHUNK_MAGIC, CHUNK_MAGIC_SIZE);
	put_le16(header + 4, type);
	put_le16(header + 6, encoding);
	put_le32(header + 8, stored_size);
	put_le32(header + 12, payload_size);
	put_le32(header + 16, (uint32_t)crc32_z(0, stored, stored_size));
	put_le32(header + 20, (uint32_t)crc32_z(0, header, 20));
	buffer_put(file, header, sizeof(header));
	buffer_put(file, stored, stored_size);
}

static inline void put_plain_chunk(struct buffer *file, uint16_t type,
				   const struct buffer *payload)
{
	put_chunk(file, type, CHUNK_PLAIN, payload->data, (uint32_t)payload->size,
		  (uint32_t)payload->size);
}

#endif

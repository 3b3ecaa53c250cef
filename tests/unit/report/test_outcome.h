/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_REPORT_TEST_OUTCOME_H
#define UNIPROF_TESTS_UNIT_REPORT_TEST_OUTCOME_H

/* The outcome of loading a recording with different numbers of threads. A file that
 * includes this must define _GNU_SOURCE first. */

#include "tests/unit/test_recording.h"

#include "report/load/load.h"

#define THREADS	 6 /* more than are useful */
#define STOPPING "the visitor stops"

/* The result of loading a recording. */
struct outcome {
	int status;
	struct error err;
	struct summary summary;
	struct buffer samples; /* all fields of each, in order */
	unsigned int batches, stop_at;
};

static inline void put_bytes(struct buffer *to, const void *data, size_t size)
{
	buffer_put(to, data, size);
	assert_false(to->failed);
}

static inline void put_samples(struct buffer *to, const struct samples_batch *batch)
{
	uint64_t address[RECORDING_MAX_DEPTH];

	for (size_t i = 0; i < batch->count; i++) {
		struct sample sample = samples_batch_sample(batch, i, address);
		uint64_t numbers[] = {sample.time,	sample.domain,
				      sample.vcpu,	sample.state,
				      sample.weight,	sample.cpu_time,
				      sample.chain.end, sample.chain.count};

		put_bytes(to, numbers, sizeof(numbers));
		put_bytes(to, address, sample.chain.count * sizeof(*address));
	}
}

static inline int take_samples(void *arg, struct samples_batch *batch, struct error *err)
{
	struct outcome *outcome = arg;

	put_samples(&outcome->samples, batch);
	return ++outcome->batches == outcome->stop_at ? error_set(err, STOPPING) : 0;
}

/* Loads a recording of that size by the visitor, whose samples() this sets. */
static inline void load_sized(int fd, uint64_t size, unsigned int threads,
			      unsigned int stop_at, struct load_visitor visitor,
			      struct outcome *outcome)
{
	const struct input input = {.name = "input", .fd = fd, .size = size};

	visitor.samples = take_samples;
	visitor.arg = outcome;
	*outcome = (struct outcome){.stop_at = stop_at};
	outcome->status = load_recording(&input, threads, &outcome->summary, &visitor,
					 &outcome->err);
}

static inline void outcome_free(struct outcome *outcome)
{
	summary_free(&outcome->summary);
	buffer_free(&outcome->samples);
}

static inline void expect_same(const struct outcome *outcome,
			       const struct outcome *wanted)
{
	const struct summary *summary = &outcome->summary, *other = &wanted->summary;

	assert_int_equal(outcome->status, wanted->status);
	assert_string_equal(outcome->err.text, wanted->err.text);
	assert_int_equal(outcome->samples.size, wanted->samples.size);
	assert_memory_equal(outcome->samples.data, wanted->samples.data,
			    wanted->samples.size);
	assert_int_equal(summary->samples, other->samples);
	assert_int_equal(summary->weight, other->weight);
	assert_int_equal(summary->frameless, other->frameless);
	assert_int_equal(summary->captured, other->captured);
	assert_int_equal(summary->first_time, other->first_time);
	assert_int_equal(summary->last_time, other->last_time);
	assert_int_equal(summary->lacks_cpu_time, other->lacks_cpu_time);
	assert_int_equal(summary->deepest, other->deepest);
	assert_int_equal(summary->bytes, other->bytes);
	assert_int_equal(summary->chunks, other->chunks);
	assert_memory_equal(&summary->counts, &other->counts, sizeof(other->counts));
	assert_memory_equal(&summary->damage, &other->damage, sizeof(other->damage));
	assert_int_equal(summary->vcpu_count, other->vcpu_count);
	for (size_t i = 0; i < other->vcpu_count; i++)
		assert_memory_equal(&summary->vcpus[i], &other->vcpus[i],
				    sizeof(other->vcpus[i]));
}

/* Loads the file with every number of threads from @fewest on, and without. */
static inline void expect_same_with_any(int fd, unsigned int fewest,
					struct load_visitor visitor,
					const struct outcome *wanted)
{
	struct outcome outcome;

	for (unsigned int threads = fewest; threads <= THREADS; threads++) {
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		load_sized(fd, 0, threads, 0, visitor, &outcome);
		expect_same(&outcome, wanted);
		outcome_free(&outcome);
	}
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	load_sized(fd, wanted->summary.bytes, 0, 0, visitor, &outcome);
	expect_same(&outcome, wanted);
	outcome_free(&outcome);
}

/* Bytes that are changed, removed or inserted. */
static inline void damage_bytes(struct buffer *bytes, uint64_t *seed)
{
	for (unsigned int i = 0; i < 1 + random_next(seed) % 8; i++) {
		size_t at = random_next(seed) % bytes->size;
		size_t length = random_next(seed) % 400;

		if (length > bytes->size - at)
			length = bytes->size - at;
		switch (random_next(seed) % 3) {
		case 0:
			bytes->data[at] ^= 0x55;
			break;
		case 1:
			memmove(bytes->data + at, bytes->data + at + length,
				bytes->size - at - length);
			bytes->size -= length;
			break;
		default:
			memset(bytes->data + at, CHUNK_MAGIC[0], length);
		}
	}
}

#endif

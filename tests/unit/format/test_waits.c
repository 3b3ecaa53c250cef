/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Chunks of waits: what is written is read, a chunk that breaks a rule is damaged, and an
 * idle guest's waits of an hour are small.
 */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include "format/waits.h"

#define SECOND	1000000000u
#define PERIOD	(SECOND / 10)
#define THREADS 500

static const struct waits_counts counts = {
	.until = 900 * (uint64_t)SECOND,
	.period = PERIOD,
	.rounds = 100,
	.skipped = 1,
	.threads = THREADS,
	.read = 17,
	.torn = 2,
	.unread = 3,
	.cpu_time = 123456789,
};

/* Calls of a thread that waits, as in a Linux guest: a few ways into the scheduler. */
static void make_chain(struct chain *chain, unsigned int thread)
{
	chain->count = 8 + thread % 5;
	chain->end = CHAIN_WHOLE;
	for (uint32_t i = 0; i < chain->count; i++)
		chain->address[i] = 0xffffffff81000000 + i * 0x4321 +
				    (i > 3 ? thread % 12 * 0x1b0 : 0);
}

static struct wait make_wait(unsigned int thread, uint64_t *address)
{
	struct wait wait = {
		.state = WAIT_SLEEPING,
		.process = {.space = 0x1000 * (thread / 4), .pid = 100 + thread / 4},
		.chain.address = address,
	};

	wait.process.tid = 100 + thread;
	snprintf(wait.process.comm, RECORDING_COMM, "process-%u", thread / 4 % 1000);
	snprintf(wait.process.thread, RECORDING_COMM, "worker/%u", thread % 1000);
	make_chain(&wait.chain, thread);
	return wait;
}

static void expect_wait(const struct wait *wait, const struct wait *wanted)
{
	assert_int_equal(wait->from, wanted->from);
	assert_int_equal(wait->to, wanted->is_over ? wanted->to : counts.until);
	assert_int_equal(wait->is_over, wanted->is_over);
	assert_int_equal(wait->domain, wanted->domain);
	assert_int_equal(wait->state, wanted->state);
	assert_int_equal(wait->process.space, wanted->process.space);
	assert_int_equal(wait->process.pid, wanted->process.pid);
	assert_int_equal(wait->process.tid, wanted->process.tid);
	assert_string_equal(wait->process.comm, wanted->process.comm);
	assert_string_equal(wait->process.thread, wanted->process.thread);
	assert_int_equal(wait->chain.end, wanted->chain.end);
	assert_int_equal(wait->chain.count, wanted->chain.count);
	assert_memory_equal(wait->chain.address, wanted->chain.address,
			    wanted->chain.count * sizeof(uint64_t));
}

static void waits_round_trip(void **state)
{
	static uint64_t address[300][16], got[RECORDING_MAX_DEPTH];
	struct waits_encoder *encoder = waits_encoder_new();
	struct waits_batch batch = {0};
	struct buffer payload = {0};
	struct wait waits[300];
	uint64_t seed = 1;

	(void)state;
	for (unsigned int round = 0; round < 3; round++) {
		buffer_reset(&payload);
		for (unsigned int i = 0; i < 300; i++) {
			waits[i] = make_wait(i, address[i]);
			waits[i].domain = random_next(&seed) % 3;
			waits[i].state = random_next(&seed) % (WAIT_STATES + 1);
			waits[i].from = random_next(&seed) % 600 * PERIOD * round;
			waits[i].is_over = random_next(&seed) & 1;
			waits[i].to = waits[i].from + random_next(&seed) % 3000 * PERIOD;
			assert_int_equal(waits_encoder_add(encoder, &waits[i]), 0);
		}
		assert_int_equal(waits_encoder_count(encoder), 300);
		waits_encoder_finish(encoder, &counts, &payload);
		assert_int_equal(waits_decode(cursor_of(&payload), &batch), 0);
		assert_memory_equal(&batch.counts, &counts, sizeof(counts));
		assert_int_equal(batch.samples.count, 300);
		for (unsigned int i = 0; i < 300; i++) {
			struct wait wait = waits_batch_wait(&batch, i, got);

			expect_wait(&wait, &waits[wait.process.tid - 100]);
		}
	}
	waits_encoder_free(encoder);
	waits_batch_free(&batch);
	buffer_free(&payload);
}

static void rounds_without_a_change_are_a_chunk(void **state)
{
	struct waits_encoder *encoder = waits_encoder_new();
	struct waits_batch batch = {0};
	struct buffer payload = {0};

	(void)state;
	waits_encoder_finish(encoder, &counts, &payload);
	assert_int_equal(waits_decode(cursor_of(&payload), &batch), 0);
	assert_int_equal(batch.samples.count, 0);
	assert_memory_equal(&batch.counts, &counts, sizeof(counts));
	waits_encoder_free(encoder);
	waits_batch_free(&batch);
	buffer_free(&payload);
}

/* A wait that ends before it begins has no length, and one that ends after the last round
 * moves that. */
static void times_are_made_to_fit(void **state)
{
	const struct waits_counts early = {.until = 10};
	struct waits_encoder *encoder = waits_encoder_new();
	struct waits_batch batch = {0};
	struct buffer payload = {0};
	struct wait wait = {.from = 100, .to = 50, .is_over = true};

	(void)state;
	assert_int_equal(waits_encoder_add(encoder, &wait), 0);
	wait.to = 300;
	assert_int_equal(waits_encoder_add(encoder, &wait), 0);
	waits_encoder_finish(encoder, &early, &payload);
	assert_int_equal(waits_decode(cursor_of(&payload), &batch), 0);
	assert_int_equal(batch.to[0], 100);
	assert_int_equal(batch.to[1], 300);
	assert_int_equal(batch.counts.until, 300);
	waits_encoder_free(encoder);
	waits_batch_free(&batch);
	buffer_free(&payload);
}

/* Decodes a wait at 100 whose fields of lengths are as given; -1: no such field. */
static int decode_with(int64_t length, int64_t unit, int64_t until, bool is_stack)
{
	struct samples_encoder *encoder = samples_encoder_new();
	struct waits_batch batch = {0};
	struct buffer payload = {0};
	uint64_t address[4] = {1, 2, 3, 4};
	const struct sample sample = {
		.time = 100,
		.weight = 1,
		.chain = {.address = address, .count = 4, .is_stack = is_stack},
	};
	int status;

	assert_int_equal(samples_encoder_add(encoder, &sample), 0);
	samples_encoder_finish(encoder, NULL, &payload);
	if (length >= 0)
		field_put_number(&payload, WAITS_LENGTH, (uint64_t)length);
	if (unit >= 0)
		field_put_number(&payload, WAITS_LENGTH_UNIT, (uint64_t)unit);
	if (until >= 0)
		field_put_number(&payload, WAITS_UNTIL, (uint64_t)until);
	status = waits_decode(cursor_of(&payload), &batch);
	assert_int_equal(batch.samples.count, status == 0);
	assert_false(batch.samples.no_memory);
	samples_encoder_free(encoder);
	waits_batch_free(&batch);
	buffer_free(&payload);
	return status;
}

static void what_breaks_a_rule_is_damage(void **state)
{
	(void)state;
	assert_int_equal(decode_with(11, 10, 200, false), 0);
	assert_int_equal(decode_with(12, 10, 200, false), -1); /* ends at 210 */
	assert_int_equal(decode_with(0, 10, 200, false), 0);
	assert_int_equal(decode_with(0, -1, 200, false), 0);
	assert_int_equal(decode_with(0, 0, 200, false), -1);
	assert_int_equal(decode_with(-1, 10, 200, false), -1);
	assert_int_equal(decode_with(0, 10, 100, false), 0);
	assert_int_equal(decode_with(0, 10, 99, false), -1);
	assert_int_equal(decode_with(0, 10, -1, false), -1);
	assert_int_equal(decode_with(INT64_MAX, INT64_MAX, 200, false), -1);
	assert_int_equal(decode_with(0, 10, 200, true), -1);
}

static int count_waits(const struct buffer *bytes, struct waits_batch *batch)
{
	int fd = file_with(bytes->data, bytes->size), count = 0;
	struct reader *reader = reader_new(fd);
	struct cursor payload;
	struct error err;
	unsigned int type;

	while (reader_next(reader, &type, &payload, &err) > 0) {
		if (type != CHUNK_WAITS)
			continue;
		assert_int_equal(waits_decode(payload, batch), 0);
		count += (int)batch->samples.count;
	}
	reader_free(reader);
	close(fd);
	return count;
}

/* An idle guest at 10 Hz: most threads sleep, some wake every second, some every ten.
 * Chunks are written as the recorder does, every 15 s, with waits of more than 5 s that
 * still go on. */
static void an_idle_guest_takes_little_room(void **state)
{
	static uint64_t address[RECORDING_MAX_DEPTH];
	const struct recording_info info = test_info();
	const struct recording_domain domain = test_domain();
	struct recording_end end = {.reason = END_TIME};
	uint64_t start = info.monotonic_start, since[THREADS], seed = 1;
	int fd = file_with(NULL, 0), written = THREADS;
	bool is_open[THREADS] = {false};
	struct waits_batch batch = {0};
	struct buffer bytes = {0};
	struct error err = {""};
	struct writer *writer = writer_new(fd, &info, &domain, 1, &err);

	(void)state;
	for (unsigned int i = 0; i < THREADS; i++)
		since[i] = start;
	for (uint64_t round = 0; round <= 36000; round++) {
		uint64_t now = start + round * PERIOD;

		for (unsigned int i = 0; i < THREADS; i++) {
			unsigned int each = i < 5 ? 10 : i < 20 ? 100 : 0;
			struct wait wait;

			if (each && random_next(&seed) % each == 0) {
				wait = make_wait(i, address);
				wait.from = since[i];
				wait.to = now;
				wait.is_over = true;
				assert_int_equal(writer_wait(writer, &wait, &err), 0);
				since[i] = now;
				is_open[i] = false;
				written++;
			}
			if (round % 150 == 0 && !is_open[i] &&
			    (!round || now - since[i] > 5 * (uint64_t)SECOND)) {
				wait = make_wait(i, address);
				wait.from = since[i];
				assert_int_equal(writer_wait(writer, &wait, &err), 0);
				is_open[i] = true;
				written += round != 0;
			}
		}
		*writer_waits_counts(writer) = counts;
		writer_waits_counts(writer)->until = now;
		if (round % 150 == 0) {
			writer_waits(writer);
			assert_int_equal(writer_flush(writer, &err), 0);
		}
	}
	assert_int_equal(writer_end(writer, &end, &err), 0);
	writer_free(writer);
	take_file(fd, &bytes);
	assert_int_equal(count_waits(&bytes, &batch), written);
	assert_int_equal(batch.counts.until, start + 3600 * (uint64_t)SECOND);
	print_message("%d waits in an hour: %zu bytes\n", written, bytes.size);
	assert_in_range(bytes.size, 1, 200000);
	waits_batch_free(&batch);
	buffer_free(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_round_trip),
		cmocka_unit_test(rounds_without_a_change_are_a_chunk),
		cmocka_unit_test(times_are_made_to_fit),
		cmocka_unit_test(what_breaks_a_rule_is_damage),
		cmocka_unit_test(an_idle_guest_takes_little_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

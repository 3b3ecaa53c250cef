/* SPDX-License-Identifier: BSD-3-Clause */

/* The writer: flushed data is intact, however writing ends. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* The readable contents of a recording. */
struct outcome {
	size_t samples, infos, domains, ends;
	struct recording_end end;
	struct sampling_counts counts;
	struct damage damage;
};

/* Reads the whole recording, and expects its samples to be the first samples of @wanted,
 * in order. */
static void read_recording(int fd, const struct samples *wanted, struct outcome *outcome)
{
	struct reader *reader = reader_new(fd);
	struct samples_batch batch = {0};
	struct recording_domain domain;
	struct recording_info info;
	struct cursor payload;
	struct error err;
	unsigned int type;

	*outcome = (struct outcome){0};
	assert_non_null(reader);
	while (reader_next(reader, &type, &payload, &err) > 0) {
		switch (type) {
		case CHUNK_INFO:
			assert_int_equal(info_decode(payload, &info), 0);
			assert_string_equal(info.hypervisor, "Xen 4.17.3");
			outcome->infos++;
			break;
		case CHUNK_DOMAIN:
			assert_int_equal(domain_decode(payload, &domain), 0);
			assert_string_equal(domain.name, "web");
			outcome->domains++;
			break;
		case CHUNK_SAMPLES:
			assert_int_equal(samples_decode(payload, &batch), 0);
			assert_true(outcome->samples + batch.count <= wanted->count);
			expect_samples(&batch, wanted->at + outcome->samples,
				       batch.count);
			outcome->samples += batch.count;
			outcome->counts.lost += batch.counts.lost;
			outcome->counts.missed += batch.counts.missed;
			pauses_merge(&outcome->counts.pauses, &batch.counts.pauses);
			break;
		default:
			assert_int_equal(type, CHUNK_END);
			assert_int_equal(end_decode(payload, &outcome->end), 0);
			outcome->ends++;
		}
	}
	outcome->damage = *reader_damage(reader);
	samples_batch_free(&batch);
	reader_free(reader);
}

static struct writer *open_writer(int fd, struct error *err)
{
	struct recording_info info = test_info();
	struct recording_domain domain = test_domain();

	return writer_new(fd, &info, &domain, 1, err);
}

/* Writes the samples, flushing after every five; returns the first status that is not 0.
 */
static int write_samples(struct writer *writer, const struct samples *samples,
			 struct error *err)
{
	int status = 0;

	for (size_t i = 0; i < samples->count && !status; i++) {
		status = writer_sample(writer, &samples->at[i], err);
		if (!status && i % 5 == 4)
			status = writer_flush(writer, err);
	}
	return status;
}

static void the_description_is_written_at_once(void **state)
{
	int fd = file_with(NULL, 0);
	struct samples none = {0};
	struct outcome outcome;
	struct error err;
	struct writer *writer = open_writer(fd, &err);

	(void)state;
	assert_non_null(writer);
	assert_int_equal(writer_bytes(writer), lseek(fd, 0, SEEK_CUR));
	writer_free(writer); /* as if killed here */
	lseek(fd, 0, SEEK_SET);
	read_recording(fd, &none, &outcome);
	close(fd);
	assert_int_equal(outcome.infos, 1);
	assert_int_equal(outcome.domains, 1);
	assert_int_equal(outcome.damage.bytes, 0);
}

static void flushed_samples_can_be_read_without_an_end(void **state)
{
	uint64_t seed = 8;
	struct samples samples = likely_samples(50, &seed);
	int fd = file_with(NULL, 0);
	struct outcome outcome;
	struct error err;
	struct writer *writer = open_writer(fd, &err);

	(void)state;
	assert_non_null(writer);
	for (size_t i = 0; i < samples.count; i++) {
		assert_int_equal(writer_sample(writer, &samples.at[i], &err), 0);
		if (i % 7)
			continue;
		assert_int_equal(writer_flush(writer, &err), 0);
		assert_int_equal(writer_bytes(writer), lseek(fd, 0, SEEK_END));
		lseek(fd, 0, SEEK_SET);
		read_recording(fd, &samples, &outcome);
		assert_int_equal(outcome.samples, i + 1);
		assert_int_equal(outcome.ends, 0);
		assert_int_equal(outcome.damage.bytes, 0);
		lseek(fd, 0, SEEK_END);
	}
	writer_free(writer);
	close(fd);
	samples_free(&samples);
}

static void the_end_contains_the_totals(void **state)
{
	uint64_t seed = 9;
	struct samples samples = likely_samples(23, &seed);
	struct recording_end end = {.reason = END_SIGNAL, .monotonic = 99};
	int fd = file_with(NULL, 0);
	struct outcome outcome;
	struct error err;
	struct writer *writer = open_writer(fd, &err);

	(void)state;
	assert_non_null(writer);
	for (size_t i = 0; i < samples.count; i++) {
		writer_counts(writer)->lost += i;
		writer_counts(writer)->missed += 2;
		pauses_add(&writer_counts(writer)->pauses, 1000 * i);
		assert_int_equal(writer_sample(writer, &samples.at[i], &err), 0);
		if (i % 10 == 9)
			assert_int_equal(writer_flush(writer, &err), 0);
	}
	assert_int_equal(writer_end(writer, &end, &err), 0);
	assert_int_equal(writer_bytes(writer), lseek(fd, 0, SEEK_END));
	assert_int_equal(writer_pauses(writer)->count, 23);
	assert_int_equal(writer_pauses(writer)->max, 22000);
	writer_free(writer);
	lseek(fd, 0, SEEK_SET);
	read_recording(fd, &samples, &outcome);
	close(fd);
	assert_int_equal(outcome.samples, 23);
	assert_int_equal(outcome.ends, 1);
	assert_int_equal(outcome.infos, 2);
	assert_int_equal(outcome.domains, 2);
	assert_memory_equal(&outcome.end, &end, sizeof(end));
	assert_int_equal(end.reason, END_SIGNAL);
	assert_int_equal(end.monotonic, 99);
	assert_int_equal(end.samples, 23);
	assert_int_equal(end.lost, 22 * 23 / 2);
	assert_int_equal(end.missed, 46);
	assert_int_equal(end.pauses, 23);
	assert_int_equal(end.paused, 1000 * 22 * 23 / 2);
	assert_int_equal(outcome.counts.lost, end.lost);
	assert_int_equal(outcome.counts.missed, end.missed);
	assert_int_equal(outcome.counts.pauses.count, end.pauses);
	assert_int_equal(outcome.counts.pauses.sum, end.paused);
	samples_free(&samples);
}

static void a_flush_without_new_samples_writes_nothing(void **state)
{
	struct error err;
	int fd = file_with(NULL, 0);
	struct writer *writer = open_writer(fd, &err);
	uint64_t before;

	(void)state;
	assert_non_null(writer);
	before = writer_bytes(writer);
	assert_int_equal(writer_flush(writer, &err), 0);
	assert_int_equal(writer_bytes(writer), before);
	/* A count of lost samples is written even without samples. */
	writer_counts(writer)->lost = 1;
	assert_int_equal(writer_flush(writer, &err), 0);
	assert_true(writer_bytes(writer) > before);
	assert_int_equal(writer_counts(writer)->lost, 0);
	writer_free(writer);
	close(fd);
}

static void full_chunks_are_written_before_the_flush(void **state)
{
	struct samples one = samples_new(1);
	struct error err;
	int fd = file_with(NULL, 0);
	struct writer *writer = open_writer(fd, &err);
	uint64_t before;

	(void)state;
	assert_non_null(writer);
	before = writer_bytes(writer);
	for (uint32_t i = 0; i < RECORDING_MAX_SAMPLES; i++)
		assert_int_equal(writer_sample(writer, &one.at[0], &err), 0);
	assert_true(writer_bytes(writer) > before);
	writer_free(writer);
	close(fd);
	samples_free(&one);
}

static void a_full_disk_is_reported_at_the_start(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct error err = {""};

	(void)state;
	assert_true(fd >= 0);
	assert_null(open_writer(fd, &err));
	assert_string_equal(err.text,
			    "can't write the recording: No space left on device");
	close(fd);
}

static void a_closed_pipe_is_reported(void **state)
{
	struct error err = {""};
	struct writer *writer;
	uint64_t seed = 10;
	struct samples samples = likely_samples(10, &seed);
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	writer = open_writer(ends[1], &err);
	assert_non_null(writer);
	close(ends[0]);
	assert_int_equal(write_samples(writer, &samples, &err), -1);
	assert_string_equal(err.text, "can't write the recording: Broken pipe");
	writer_free(writer);
	close(ends[1]);
	samples_free(&samples);
}

/* Simulates a disk that is full when a file has this many bytes. */
static void limit_file_size(rlim_t size)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Writes to a file that may grow to @limit bytes; returns whether everything succeeded.
 * All calls after the first failure must fail for the reason of the first. */
static bool write_limited(int fd, const struct samples *samples, rlim_t limit)
{
	struct recording_end end = {.reason = END_TIME};
	struct error err = {""};
	struct writer *writer;
	int status;

	limit_file_size(limit);
	writer = open_writer(fd, &err);
	status = writer ? write_samples(writer, samples, &err) : -1;
	if (status == 0)
		status = writer_end(writer, &end, &err);
	limit_file_size(RLIM_INFINITY);
	if (status)
		assert_string_equal(err.text,
				    "can't write the recording: File too large");
	if (status && writer) {
		/* There is space again, but a part of the recording is missing. */
		uint64_t bytes = writer_bytes(writer);

		assert_int_equal(bytes, lseek(fd, 0, SEEK_CUR));
		assert_int_equal(bytes, lseek(fd, 0, SEEK_END));
		err = (struct error){""};
		assert_int_equal(writer_flush(writer, &err), -1);
		assert_int_equal(writer_end(writer, &end, &err), -1);
		assert_string_equal(err.text,
				    "can't write the recording: File too large");
		assert_int_equal(lseek(fd, 0, SEEK_END), bytes);
	}
	writer_free(writer);
	return status == 0;
}

/* SIGXFSZ is ignored, as in the recorder. */
static void a_full_disk_leaves_no_partial_chunk(void **state)
{
	uint64_t seed = 11;
	struct samples samples = likely_samples(20, &seed);
	size_t complete = 0;
	bool done = false;

	(void)state;
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	for (rlim_t limit = 0; !done; limit++) {
		int fd = file_with(NULL, 0);
		struct outcome outcome;

		done = write_limited(fd, &samples, limit);
		lseek(fd, 0, SEEK_SET);
		read_recording(fd, &samples, &outcome);
		close(fd);
		assert_int_equal(outcome.damage.bytes, 0);
		assert_int_equal(outcome.samples % 5, 0);
		assert_true(outcome.samples >= complete);
		complete = outcome.samples;
		assert_int_equal(outcome.ends, done ? 1 : 0);
	}
	assert_int_equal(complete, 20);
	samples_free(&samples);
}

static void data_before_the_recording_is_unchanged(void **state)
{
	uint64_t seed = 12;
	struct samples samples = likely_samples(200, &seed);
	struct error err = {""};
	struct outcome outcome;
	struct writer *writer;
	char before[6];
	int fd = file_with("before", 6);

	(void)state;
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	lseek(fd, 0, SEEK_END);
	limit_file_size(700);
	writer = open_writer(fd, &err);
	assert_non_null(writer);
	assert_int_equal(write_samples(writer, &samples, &err), -1);
	limit_file_size(RLIM_INFINITY);
	writer_free(writer);
	assert_int_equal(pread(fd, before, 6, 0), 6);
	assert_memory_equal(before, "before", 6);
	lseek(fd, 0, SEEK_SET);
	read_recording(fd, &samples, &outcome);
	close(fd);
	assert_int_equal(outcome.damage.bytes, 6);
	assert_true(outcome.samples > 0);
	samples_free(&samples);
}

struct pipe_reading {
	int fd;
	const struct samples *samples;
	struct outcome outcome;
};

static void *read_pipe(void *data)
{
	struct pipe_reading *reading = data;

	read_recording(reading->fd, reading->samples, &reading->outcome);
	return NULL;
}

static void a_recording_streams_through_a_pipe(void **state)
{
	uint64_t seed = 13;
	struct samples samples = likely_samples(5000, &seed);
	struct recording_end end = {.reason = END_TIME};
	struct pipe_reading reading = {.samples = &samples};
	struct error err = {""};
	struct writer *writer;
	pthread_t thread;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	/* The pipe takes a page at a time, so writes are cut into parts. */
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
	reading.fd = ends[0];
	assert_int_equal(pthread_create(&thread, NULL, read_pipe, &reading), 0);
	writer = open_writer(ends[1], &err);
	assert_non_null(writer);
	for (size_t i = 0; i < samples.count; i++) {
		samples.at[i].chain.address[0] = random_next(&seed);
		assert_int_equal(writer_sample(writer, &samples.at[i], &err), 0);
	}
	assert_int_equal(writer_end(writer, &end, &err), 0);
	assert_true(writer_bytes(writer) > 3 * 4096);
	writer_free(writer);
	close(ends[1]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(ends[0]);
	assert_int_equal(reading.outcome.samples, samples.count);
	assert_int_equal(reading.outcome.ends, 1);
	assert_int_equal(reading.outcome.damage.bytes, 0);
	samples_free(&samples);
}

struct signalling {
	int ends[2];
	pthread_t writer;
	int done; /* nothing more will be written */
	struct buffer bytes;
};

/* Drains the pipe, and signals the writer whenever the pipe is full: the writer then
 * waits in the middle of a write. */
static void *read_among_signals(void *data)
{
	struct signalling *signalling = data;
	struct pollfd room = {.fd = signalling->ends[1], .events = POLLOUT};
	ssize_t got;

	do {
		uint8_t *to = buffer_extend(&signalling->bytes, 4096);

		while (!__atomic_load_n(&signalling->done, __ATOMIC_SEQ_CST)) {
			if (poll(&room, 1, 0) != 0) {
				sched_yield();
				continue;
			}
			pthread_kill(signalling->writer, SIGUSR1);
			break;
		}
		got = to ? read(signalling->ends[0], to, 4096) : 0;
		signalling->bytes.size -= (size_t)(4096 - (got > 0 ? got : 0));
	} while (got > 0);
	return NULL;
}

static void do_nothing(int signal)
{
	(void)signal;
}

static void interrupted_writes_are_resumed(void **state)
{
	const struct sigaction interrupting = {.sa_handler = do_nothing};
	uint64_t seed = 18;
	struct samples samples = likely_samples(5000, &seed);
	struct signalling signalling = {.writer = pthread_self()};
	struct recording_end end = {.reason = END_TIME};
	struct error err = {""};
	struct outcome outcome;
	struct writer *writer;
	pthread_t thread;
	int fd;

	(void)state;
	for (size_t i = 0; i < samples.count; i++)
		for (uint32_t j = 0; j < samples.at[i].chain.count; j++)
			samples.at[i].chain.address[j] = random_next(&seed);
	assert_int_equal(sigaction(SIGUSR1, &interrupting, NULL), 0);
	assert_int_equal(pipe2(signalling.ends, O_CLOEXEC), 0);
	assert_true(fcntl(signalling.ends[1], F_SETPIPE_SZ, 4096) >= 4096);
	assert_int_equal(pthread_create(&thread, NULL, read_among_signals, &signalling),
			 0);
	writer = open_writer(signalling.ends[1], &err);
	assert_non_null(writer);
	for (size_t i = 0; i < samples.count; i++)
		assert_int_equal(writer_sample(writer, &samples.at[i], &err), 0);
	assert_int_equal(writer_end(writer, &end, &err), 0);
	assert_true(writer_bytes(writer) > 50 * 4096);
	__atomic_store_n(&signalling.done, 1, __ATOMIC_SEQ_CST);
	close(signalling.ends[1]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(signalling.ends[0]);
	assert_int_equal(signalling.bytes.size, writer_bytes(writer));
	writer_free(writer);
	fd = file_with(signalling.bytes.data, signalling.bytes.size);
	read_recording(fd, &samples, &outcome);
	close(fd);
	assert_int_equal(outcome.samples, samples.count);
	assert_int_equal(outcome.damage.bytes, 0);
	buffer_free(&signalling.bytes);
	samples_free(&samples);
}

static void the_sum_of_weights_is_that_of_written_samples(void **state)
{
	uint64_t seed = 19;
	struct samples samples = likely_samples(4, &seed);
	int fd = file_with(NULL, 0);
	struct error err;
	struct writer *writer = open_writer(fd, &err);

	(void)state;
	assert_non_null(writer);
	for (uint32_t i = 0; i < 4; i++) {
		samples.at[i].weight = 1 + i * 10;
		assert_int_equal(writer_sample(writer, &samples.at[i], &err), 0);
		if (i == 1)
			assert_int_equal(writer_weight(writer), 0);
		if (i == 1)
			assert_int_equal(writer_flush(writer, &err), 0);
		if (i > 1)
			assert_int_equal(writer_weight(writer), 12);
	}
	assert_int_equal(writer_flush(writer, &err), 0);
	assert_int_equal(writer_weight(writer), 64);
	assert_int_equal(writer_flush(writer, &err), 0);
	assert_int_equal(writer_weight(writer), 64);
	writer_free(writer);
	close(fd);
	samples_free(&samples);
}

/* The file must not depend on anything that a process does at exit. */
static void flushed_samples_survive_the_writers_death(void **state)
{
	uint64_t seed = 14;
	struct samples samples = likely_samples(43, &seed);
	int fd = file_with(NULL, 0), status;
	struct outcome outcome;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (child == 0) {
		struct error err;
		struct writer *writer = open_writer(fd, &err);

		if (writer && write_samples(writer, &samples, &err) == 0)
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	lseek(fd, 0, SEEK_SET);
	read_recording(fd, &samples, &outcome);
	close(fd);
	assert_int_equal(outcome.samples, 40);
	assert_int_equal(outcome.ends, 0);
	assert_int_equal(outcome.damage.bytes, 0);
	samples_free(&samples);
}

int main(void)
{
	alarm(300);
	signal(SIGPIPE, SIG_IGN);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_description_is_written_at_once),
		cmocka_unit_test(flushed_samples_can_be_read_without_an_end),
		cmocka_unit_test(the_end_contains_the_totals),
		cmocka_unit_test(a_flush_without_new_samples_writes_nothing),
		cmocka_unit_test(full_chunks_are_written_before_the_flush),
		cmocka_unit_test(a_full_disk_is_reported_at_the_start),
		cmocka_unit_test(a_closed_pipe_is_reported),
		cmocka_unit_test(a_full_disk_leaves_no_partial_chunk),
		cmocka_unit_test(data_before_the_recording_is_unchanged),
		cmocka_unit_test(a_recording_streams_through_a_pipe),
		cmocka_unit_test(interrupted_writes_are_resumed),
		cmocka_unit_test(the_sum_of_weights_is_that_of_written_samples),
		cmocka_unit_test(flushed_samples_survive_the_writers_death),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

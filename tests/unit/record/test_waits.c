/* SPDX-License-Identifier: BSD-3-Clause */

/* What is recorded of a guest's threads that wait. */

#define _GNU_SOURCE 1
#include "tests/unit/files.h"
#include "tests/unit/record/test_guest_threads.h"

#include <fcntl.h>

/* A stand-in for the recorder: rounds of waits, until there were @count of them. */
static void take_rounds(struct waits *waits, struct sink *sink, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		while (clock_monotonic() < waits_due(waits))
			;
		waits_take(waits, sink);
	}
}

/* A recorder of waits, and nothing else, of a guest with the index @domain. */
struct recorder {
	struct series series;
	struct sink *sink;
	struct waits *waits;
	int fd;
};

static void recorder_begin(struct recorder *recorder, struct scene *scene,
			   uint32_t domain, uint64_t start)
{
	struct recording_info info = test_info();
	struct error err;

	recorder->fd = file_with(NULL, 0);
	recorder->waits = waits_new(NS_PER_S / 1000, WAITS_CHUNK, &scene->learning,
				    domain);
	recorder->series = (struct series){
		.writer = writer_new(recorder->fd, &info, NULL, 0, &err)};
	recorder->sink = sink_new(&err);
	assert_non_null(recorder->waits);
	assert_non_null(recorder->sink);
	assert_int_equal(sink_start(recorder->sink, &recorder->series, NULL, &err), 0);
	waits_begin(recorder->waits, start);
}

/* Completes the recording, which can be read from the start of its file then. */
static struct waits_totals recorder_end(struct recorder *recorder)
{
	struct recording_end end = {.reason = END_TIME};
	struct waits_totals totals = {0};
	struct error err;
	sigset_t none;

	sigemptyset(&none);
	waits_end(recorder->waits, recorder->sink, false);
	waits_add(recorder->waits, &totals);
	waits_free(recorder->waits);
	assert_int_equal(sink_end(recorder->sink, &end, &none, &err), 0);
	lseek(recorder->fd, 0, SEEK_SET);
	return totals;
}

struct taken {
	struct waits_batch batch;
	struct waits_totals totals;
	struct wait wait[32];
	uint64_t address[32][RECORDING_MAX_DEPTH];
	unsigned int waits;
};

/* Records two parts of a guest's waits, with @between in the middle. */
static void record_waits(struct scene *scene, void (*between)(void), struct taken *taken)
{
	struct recorder recorder;
	struct reader *reader;
	struct cursor payload;
	unsigned int type;
	struct error err;

	recorder_begin(&recorder, scene, 3, clock_monotonic());
	take_rounds(recorder.waits, recorder.sink, 5);
	between();
	take_rounds(recorder.waits, recorder.sink, 5);
	taken->totals = recorder_end(&recorder);
	reader = reader_new(recorder.fd);
	while (reader_next(reader, &type, &payload, &err) > 0) {
		if (type != CHUNK_WAITS)
			continue;
		assert_int_equal(waits_decode(payload, &taken->batch), 0);
		for (size_t i = 0; i < taken->batch.samples.count; i++, taken->waits++)
			taken->wait[taken->waits] = waits_batch_wait(
				&taken->batch, i, taken->address[taken->waits]);
	}
	reader_free(reader);
	close(recorder.fd);
}

static void change_waits(void)
{
	/* Thread 0 has run and waits again, 1 runs, 3 has ended. */
	add(TASK(0) + layout.switches, 1);
	put_half(TASK(1) + layout.on_cpu, 1);
	put_half(TASK(3) + layout.exit_state, 32);
}

static void only_changes_are_written(void **state)
{
	static struct taken taken;
	unsigned int over = 0;

	taken = (struct taken){0};
	record_waits(*state, change_waits, &taken);
	assert_int_equal(taken.totals.rounds, 10);
	assert_int_equal(taken.totals.threads, 4);
	assert_int_equal(taken.totals.read, 5);
	assert_int_equal(taken.totals.torn + taken.totals.unread, 0);
	assert_false(taken.totals.is_unknown || taken.totals.is_broken);
	/* Three waits that are over, and two that go on. */
	assert_int_equal(taken.waits, 5);
	for (unsigned int i = 0; i < taken.waits; i++) {
		const struct wait *wait = &taken.wait[i];

		over += wait->is_over;
		assert_int_equal(wait->domain, 3);
		assert_int_equal(wait->chain.count, 2);
		assert_true(wait->to > wait->from);
		assert_true(wait->is_over || wait->process.tid == 100 ||
			    wait->process.tid == 102);
	}
	assert_int_equal(over, 3);
	waits_batch_free(&taken.batch);
}

static void nothing(void)
{
}

static void a_thread_that_runs_meanwhile_is_torn(void **state)
{
	static struct taken taken;

	taken = (struct taken){0};
	running = TASK(1);
	record_waits(*state, nothing, &taken);
	assert_int_equal(taken.totals.torn, 10);
	assert_int_equal(taken.totals.read, 3);
	for (unsigned int i = 0; i < taken.waits; i++)
		assert_int_not_equal(taken.wait[i].process.tid, 101);
	waits_batch_free(&taken.batch);
}

static struct learning *learning;

static void learn_frame(void)
{
	put(STACK(1) + 0x900, 0);
}

static void learn_table(void)
{
	learn_frame();
	learning->renewals++;
}

/* Returns the end of the chain of thread 1, whose frame is unaligned before @between. */
static enum chain_end end_of_wait(struct scene *scene, void (*between)(void))
{
	static struct taken taken;
	enum chain_end end = CHAIN_ENDS;

	taken = (struct taken){0};
	learning = &scene->learning;
	put(STACK(1) + 0x900, STACK(1) + 0x903);
	record_waits(scene, between, &taken);
	for (unsigned int i = 0; i < taken.waits; i++)
		if (taken.wait[i].process.tid == 101)
			end = taken.wait[i].chain.end;
	waits_batch_free(&taken.batch);
	return end;
}

static void a_cut_chain_is_read_again_with_new_tables(void **state)
{
	assert_int_equal(end_of_wait(*state, nothing), CHAIN_UNALIGNED);
	assert_int_equal(end_of_wait(*state, learn_frame), CHAIN_UNALIGNED);
	assert_int_equal(end_of_wait(*state, learn_table), CHAIN_UNKNOWN);
}

/* Threads that come and go, each in a process of its own; signal and stack are in the
 * same bytes as the task. */
#define MANY   150
#define ONE(i) (DIRECT + 0x50000 + (i)*0x800ull)

static bool is_waiting[MANY];
static unsigned int begun; /* waits so far */

static void put_many(void)
{
	uint64_t last = INIT + layout.tasks;

	for (unsigned int i = 0; i < MANY; i++) {
		uint64_t task = ONE(i), link = task + layout.tasks, sp = task + 0x400;
		uint64_t head = task + 0x200 + layout.thread_head;

		put(last, link);
		put(link + 8, last);
		last = link;
		put(task + layout.signal, task + 0x200);
		put(head, task + layout.thread_node);
		put(head + 8, task + layout.thread_node);
		put(task + layout.thread_node, head);
		put(task + layout.thread_node + 8, head);
		put_half(task + layout.pid, 1000 + i);
		put_half(task + tasks.tgid, 1000 + i);
		put_half(task + layout.state, 1);
		put(task + tasks.group_leader, task);
		put(task + layout.sp, sp);
		put(sp + layout.return_address, IMAGE + 0x5010 + i);
		is_waiting[i] = true;
	}
	put(last, INIT + layout.tasks);
	put(INIT + layout.tasks + 8, last);
	begun = MANY;
}

/* Between two rounds, some threads begin to run, others wait for something new. */
static void change_many(uint64_t *seed)
{
	for (unsigned int i = 0; i < MANY; i++) {
		uint64_t choice = random_next(seed) % 8;

		if (choice == 0 && is_waiting[i])
			put_half(ONE(i) + layout.on_cpu, 1);
		if (choice == 1 || (choice == 0 && !is_waiting[i])) {
			put_half(ONE(i) + layout.on_cpu, 0);
			add(ONE(i) + layout.switches, 1);
			begun++;
		}
		is_waiting[i] = choice == 1 || (choice == 0) != is_waiting[i];
	}
}

static void many_threads_come_and_go(void **state)
{
	struct recorder recorder;
	struct waits_totals totals;
	struct waits_batch batch = {0};
	uint64_t last[MANY] = {0}; /* begin of each thread's wait that goes on */
	unsigned int over = 0, open = 0, rest = 0;
	struct reader *reader;
	struct cursor payload;
	unsigned int type;
	uint64_t seed = 5;
	struct error err;

	put_many();
	recorder_begin(&recorder, *state, 0, clock_monotonic());
	for (unsigned int round = 0; round < 60; round++) {
		uint64_t rounds;

		do {
			totals = (struct waits_totals){0};
			waits_add(recorder.waits, &totals);
			rounds = totals.rounds;
			take_rounds(recorder.waits, recorder.sink, 1);
			totals = (struct waits_totals){0};
			waits_add(recorder.waits, &totals);
		} while (totals.rounds == rounds);
		if (round < 59)
			change_many(&seed);
	}
	for (unsigned int i = 0; i < MANY; i++)
		rest += is_waiting[i];
	recorder_end(&recorder);
	reader = reader_new(recorder.fd);
	while (reader_next(reader, &type, &payload, &err) > 0) {
		if (type != CHUNK_WAITS)
			continue;
		assert_int_equal(waits_decode(payload, &batch), 0);
		/* One that goes on may be there again, complete. */
		for (size_t i = 0; i < batch.samples.count; i++) {
			uint32_t process = batch.samples.process[i];
			uint64_t tid = batch.samples.processes[process].tid - 1000;

			assert_in_range(tid, 0, MANY - 1);
			over += batch.is_over[i];
			last[tid] = batch.is_over[i] ? 0 : batch.samples.time[i];
		}
	}
	for (unsigned int i = 0; i < MANY; i++)
		open += last[i] != 0;
	assert_int_equal(open, rest);
	assert_int_equal(over, begun - rest);
	waits_batch_free(&batch);
	reader_free(reader);
	close(recorder.fd);
}

static void break_lists(void)
{
	put(TASK(1) + layout.thread_node, 0);
}

/* What was not seen, because the lists lead nowhere, is not over. */
static void broken_lists_end_no_waits(void **state)
{
	static struct taken taken;

	taken = (struct taken){0};
	record_waits(*state, break_lists, &taken);
	assert_int_equal(taken.waits, 4);
	for (unsigned int i = 0; i < taken.waits; i++)
		assert_false(taken.wait[i].is_over);
	waits_batch_free(&taken.batch);
}

/* A list that leads in a circle past its end, as if there were a million threads: rounds
 * end, and it is said. */
static void a_circle_of_threads_is_bounded_and_said(void **state)
{
	struct recorder recorder;
	struct waits_totals totals;

	put(TASK(1) + layout.thread_node, TASK(0) + layout.thread_node);
	put(TASK(0) + layout.thread_node + 8, TASK(1) + layout.thread_node);
	recorder_begin(&recorder, *state, 0, clock_monotonic());
	/* Each takes a part of a round. */
	take_rounds(recorder.waits, recorder.sink, THREADS_MAX / 16);
	totals = recorder_end(&recorder);
	assert_true(totals.rounds >= 1);
	assert_true(totals.is_broken);
	/* Not again and again, as the threads don't run */
	assert_true(totals.read < 32);
	close(recorder.fd);
}

/* So it is if the lists lead anywhere. */
static void pointers_to_anywhere_are_said(void **state)
{
	static struct taken taken;
	uint64_t seed = 7;

	taken = (struct taken){0};
	put(TASK(0) + layout.tasks, random_next(&seed));
	record_waits(*state, nothing, &taken);
	assert_true(taken.totals.is_broken);
	assert_int_equal(taken.totals.rounds, 10);
	assert_true(taken.waits <= 2);
	waits_batch_free(&taken.batch);
}

/* A round that can't go on, as no vCPU has an address space, is not tried at once again.
 */
static void without_registers_the_round_ends(void **state)
{
	struct scene *scene = *state;
	uint64_t start = clock_monotonic() - NS_PER_S;
	struct recorder recorder;
	struct waits *waits;

	put_many();
	recorder_begin(&recorder, scene, 0, start);
	waits = recorder.waits;
	waits_take(waits, recorder.sink);
	/* In the middle of a round */
	assert_true(waits_due(waits) <= clock_monotonic());
	scene->vcpu.captured = false;
	waits_take(waits, recorder.sink);
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t period = (waits_due(waits) - start) / (NS_PER_S / 1000);

		waits_take(waits, recorder.sink);
		assert_true((waits_due(waits) - start) / (NS_PER_S / 1000) > period);
		while (clock_monotonic() < waits_due(waits))
			;
	}
	scene->vcpu.captured = true;
	take_rounds(waits, recorder.sink, 30);
	recorder_end(&recorder);
	close(recorder.fd);
}

#define LOOK   (NS_PER_S / 25)
#define LENGTH (2 * NS_PER_S / 5)
#define TRIES  25

/* A recording in files of LENGTH, with waits */
struct files {
	struct waits *waits;
	struct series series;
	struct sink *sink;
	uint64_t start;
};

static void files_begin(struct files *files, struct scene *scene, uint64_t start)
{
	const struct rotation rotation = {.time = LENGTH};
	struct recording_domain domain = test_domain();
	struct recording_info info = test_info();
	struct error err;

	domain.vcpus = 1;
	files->start = start;
	info.monotonic_start = start;
	files->waits = waits_new(LOOK, WAITS_CHUNK, &scene->learning, 0);
	assert_int_equal(series_init(&files->series, "a.data", &rotation, &err), 0);
	assert_int_equal(series_open(&files->series, &err), 0);
	assert_int_equal(series_begin(&files->series, &info, &err), 0);
	files->sink = sink_new(&err);
	assert_int_equal(sink_start(files->sink, &files->series, NULL, &err), 0);
	assert_true(sink_domain(files->sink, &domain));
	waits_begin(files->waits, start);
}

static void files_sample(struct files *files, uint64_t time)
{
	struct sample sample = {.time = time, .weight = 1};
	const struct round round = {
		.outcome = ROUND_TAKEN, .sample = &sample, .samples = 1};

	sink_round(files->sink, &round, 0);
}

static void files_end(struct files *files, uint64_t time)
{
	struct recording_end end = {.reason = END_TIME, .monotonic = time};
	struct error err;
	sigset_t none;

	sigemptyset(&none);
	waits_end(files->waits, files->sink, false);
	waits_free(files->waits);
	assert_int_equal(sink_end(files->sink, &end, &none, &err), 0);
	series_close(&files->series, &err);
}

/* Reads a file. Returns how many waits it has that go on, which must have begun up
 * to @latest; sets *@until to the time up to which it has waits. */
static unsigned int waits_of_file(unsigned int number, uint64_t latest, uint64_t *until)
{
	struct waits_batch batch = {0};
	struct cursor payload;
	struct reader *reader;
	unsigned int type, open = 0;
	struct error err;
	char name[16];
	int fd;

	snprintf(name, sizeof(name), "a.data.%u", number);
	fd = openat(AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	reader = reader_new(fd);
	while (reader_next(reader, &type, &payload, &err) > 0) {
		if (type != CHUNK_WAITS)
			continue;
		assert_int_equal(waits_decode(payload, &batch), 0);
		*until = batch.counts.until;
		for (size_t i = 0; i < batch.samples.count; i++, open++) {
			assert_false(batch.is_over[i]);
			assert_true(batch.samples.time[i] <= latest);
		}
	}
	reader_free(reader);
	close(fd);
	waits_batch_free(&batch);
	return open;
}

/* Records files. Returns whether the machine let each round be taken, and each file
 * begun, in its time. */
static bool record_files(struct files *files, struct scene *scene, unsigned int count)
{
	uint64_t last, time;
	bool in_time = true;

	files_begin(files, scene, clock_monotonic());
	last = files->start;
	for (;;) {
		const struct timespec pause = {0, NS_PER_S / 500};

		time = clock_monotonic();
		in_time &= time - last < LOOK / 2 &&
			   sink_files(files->sink) >=
				   (time - files->start + LENGTH - LOOK) / LENGTH;
		if (time >= files->start + count * LENGTH)
			break;
		last = time;
		files_sample(files, time);
		if (time >= waits_due(files->waits))
			waits_take(files->waits, files->sink);
		nanosleep(&pause, NULL);
	}
	files_end(files, files->start + count * LENGTH);
	return in_time;
}

/* Each file says what threads wait for up to its end, and of waits that began in an
 * earlier one, when. */
static void each_file_has_the_waits_of_its_time(void **state)
{
	void *directory = NULL;
	struct files files;

	for (unsigned int tries = 0;; tries++) {
		if (tries == TRIES)
			skip(); /* the machine is too busy */
		assert_int_equal(enter_directory(&directory), 0);
		if (record_files(&files, *state, 3))
			break;
		leave_directory(&directory);
	}
	for (unsigned int i = 1; i <= 3; i++) {
		uint64_t until = 0;

		/* Once each, though there are several chunks. */
		assert_int_equal(waits_of_file(i, files.start + 2 * LOOK, &until), 4);
		assert_true(until >= files.start + i * LENGTH - 2 * LOOK);
		assert_true(until <= files.start + i * LENGTH + LOOK);
	}
	leave_directory(&directory);
}

/* So does a file that begins after the last round of waits. */
static void a_file_without_a_round_has_the_open_waits(void **state)
{
	const struct timespec pause = {0, NS_PER_S / 500};
	void *directory = NULL;
	struct files files;
	uint64_t looked, until;

	assert_int_equal(enter_directory(&directory), 0);
	/* The first file is about to end. */
	files_begin(&files, *state, clock_monotonic() + LOOK - LENGTH);
	waits_take(files.waits, files.sink);
	looked = clock_monotonic();
	files_sample(&files, files.start + LENGTH);
	while (sink_files(files.sink) < 2)
		nanosleep(&pause, NULL);
	files_end(&files, files.start + LENGTH);
	assert_int_equal(waits_of_file(2, looked, &until), 4);
	leave_directory(&directory);
}

static void without_a_layout_nothing_is_known(void **state)
{
	struct scene *scene = *state;
	struct threads_seen seen;
	static struct taken taken;
	struct error err;

	taken = (struct taken){0};
	scene->learning.tasks.threads = NULL;
	assert_int_equal(threads_look(&scene->learning, &seen, &err), -1);
	assert_non_null(strstr(err.text, "not known"));
	record_waits(scene, nothing, &taken);
	assert_true(taken.totals.is_unknown);
	assert_int_equal(taken.totals.rounds, 0);
	assert_int_equal(taken.waits, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_changes_are_written, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_cut_chain_is_read_again_with_new_tables,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_thread_that_runs_meanwhile_is_torn,
						setup, teardown),
		cmocka_unit_test_setup_teardown(many_threads_come_and_go, setup,
						teardown),
		cmocka_unit_test_setup_teardown(broken_lists_end_no_waits, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_circle_of_threads_is_bounded_and_said,
						setup, teardown),
		cmocka_unit_test_setup_teardown(pointers_to_anywhere_are_said, setup,
						teardown),
		cmocka_unit_test_setup_teardown(without_registers_the_round_ends, setup,
						teardown),
		cmocka_unit_test_setup_teardown(each_file_has_the_waits_of_its_time,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_without_a_round_has_the_open_waits,
						setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_layout_nothing_is_known, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */

/* The thread between the sampler and the writer. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "format/name_list.h"
#include "record/file/sink.h"

#define VCPUS  3
#define ROUNDS 200

static struct series series_to(int fd)
{
	struct recording_info info = test_info();
	struct error err;
	struct writer *writer = writer_new(fd, &info, NULL, 0, &err);

	assert_non_null(writer);
	return (struct series){.writer = writer};
}

static struct sink *started(struct series *series)
{
	struct error err;
	struct sink *sink = sink_new(&err);

	assert_non_null(sink);
	assert_int_equal(sink_start(sink, series, NULL, &err), 0);
	return sink;
}

static struct recording_domain domain_of(uint64_t index)
{
	struct recording_domain domain = test_domain();

	domain.index = index;
	domain.vcpus = VCPUS;
	return domain;
}

/* Returns a round of the samples starting at @first. */
static struct round round_of(const struct samples *samples, size_t first)
{
	return (struct round){
		.outcome = ROUND_TAKEN,
		.pause = {20000},
		.pauses = 1,
		.sample = samples->at + first,
		.samples = VCPUS,
	};
}

static void rounds_of_several_domains_are_written_in_order(void **state)
{
	uint64_t address[RECORDING_MAX_DEPTH], seed = 3;
	struct samples samples = likely_samples(ROUNDS * VCPUS, &seed);
	struct recording_end end = {.reason = END_TIME};
	int fd = file_with(NULL, 0);
	struct series series = series_to(fd);
	struct samples_batch batch = {0};
	size_t domains = 0, found = 0;
	struct error err;
	struct sink *sink = started(&series);
	struct reader *reader;
	struct cursor payload;
	unsigned int type;
	sigset_t none;

	(void)state;
	sigemptyset(&none);
	for (size_t i = 0; i < ROUNDS; i++) {
		struct recording_domain domain = domain_of(i / 100);
		struct round round = round_of(&samples, i * VCPUS);

		for (size_t j = 0; j < VCPUS; j++)
			round.sample[j].domain = (uint32_t)(i / 100);
		if (i % 100 == 0)
			assert_true(sink_domain(sink, &domain));
		sink_round(sink, &round, i == 7);
	}
	assert_int_equal(sink_end(sink, &end, &none, &err), 0);
	assert_int_equal(end.samples, samples.count);
	assert_int_equal(end.pauses, ROUNDS);
	assert_int_equal(end.missed, 1);
	assert_int_equal(end.lost, 0);

	lseek(fd, 0, SEEK_SET);
	reader = reader_new(fd);
	while (reader_next(reader, &type, &payload, &err) > 0) {
		domains += type == CHUNK_DOMAIN;
		if (type != CHUNK_SAMPLES)
			continue;
		assert_int_equal(samples_decode(payload, &batch), 0);
		for (size_t i = 0; i < batch.count; i++, found++) {
			struct sample sample = samples_batch_sample(&batch, i, address);

			expect_sample(&sample, &samples.at[found]);
		}
	}
	assert_int_equal(found, samples.count);
	/* Each domain is described when it appears, and again at the end. */
	assert_int_equal(domains, 4);
	samples_batch_free(&batch);
	reader_free(reader);
	samples_free(&samples);
	close(fd);
}

static struct recording_name only_name(struct cursor payload)
{
	struct name_list_reader names;
	struct recording_name name, other;

	assert_int_equal(name_list_read(&names, payload), 0);
	assert_true(name_list_next(&names, &name));
	assert_false(name_list_next(&names, &other));
	return name;
}

/* Expects a name for a mark in each domain, once. @place is the mark's position in long
 * chains. */
static void expect_mark(uint64_t mark, size_t place, const char *text)
{
	uint64_t seed = 3;
	struct samples samples = likely_samples(6 * VCPUS, &seed);
	struct recording_end end = {.reason = END_TIME};
	struct recording_domain domain = domain_of(9);
	int fd = file_with(NULL, 0);
	struct series series = series_to(fd);
	struct sink *sink = started(&series);
	size_t lists = 0;
	struct reader *reader;
	struct cursor payload;
	unsigned int type;
	struct error err;
	sigset_t none;

	assert_true(sink_domain(sink, &domain));
	for (size_t i = 0; i < 6; i++) {
		struct round round = round_of(&samples, i * VCPUS);
		struct chain *chain = &round.sample[1].chain;

		for (size_t j = 0; j < VCPUS; j++)
			round.sample[j].domain = 9;
		chain->count = i > 2 ? CHAIN_MAX : CHAIN_MAX - 1;
		for (size_t j = 0; j < CHAIN_MAX; j++)
			chain->address[j] = 0x1000 + j;
		if (i > 2)
			chain->address[place] = mark;
		sink_round(sink, &round, 0);
	}
	sigemptyset(&none);
	assert_int_equal(sink_end(sink, &end, &none, &err), 0);

	lseek(fd, 0, SEEK_SET);
	reader = reader_new(fd);
	while (reader_next(reader, &type, &payload, &err) > 0) {
		if (type == CHUNK_NAMES) {
			struct recording_name name = only_name(payload);

			assert_int_equal(name.domain, 9);
			assert_int_equal(name.address, mark - 1);
			assert_int_equal(name.address - name.offset, mark);
			assert_int_equal(name.name.length, strlen(text));
			assert_memory_equal(name.name.at, text, strlen(text));
			lists++;
		}
	}
	assert_int_equal(lists, 1);
	reader_free(reader);
	samples_free(&samples);
	close(fd);
}

static void marks_have_names(void **state)
{
	(void)state;
	expect_mark(CHAIN_GAP, CHAIN_MAX - CHAIN_OUTER - 1, "[...]");
	expect_mark(CHAIN_INTERRUPT, 7, "[interrupt]");
}

#define KERNEL	0xffffffff81000000u
#define SYMBOLS 3

/* The names of a kernel with two functions and its end, 64 bytes from each other. */
static struct kallsyms *kernel_names(void)
{
	static const char *const symbols[SYMBOLS] = {"Tfirst", "tsecond", "D_end"};
	struct kallsyms *kallsyms = calloc(1, sizeof(*kallsyms));

	assert_non_null(kallsyms);
	for (unsigned int i = 1; i < KALLSYMS_TOKENS; i++) {
		kallsyms->token_at[i] = (uint16_t)(2 * i);
		kallsyms->token[2 * i] = (uint8_t)i;
	}
	kallsyms->symbols = SYMBOLS;
	kallsyms->name = calloc(SYMBOLS, 8);
	kallsyms->offset = calloc(SYMBOLS, sizeof(uint32_t));
	kallsyms->marker = calloc(1, sizeof(uint32_t));
	kallsyms->markers = 1;
	kallsyms->base = KERNEL;
	assert_true(kallsyms->name && kallsyms->offset && kallsyms->marker);
	for (uint32_t i = 0; i < SYMBOLS; i++) {
		size_t length = strlen(symbols[i]);

		kallsyms->offset[i] = 64 * i;
		kallsyms->name[kallsyms->name_size++] = (uint8_t)length;
		memcpy(kallsyms->name + kallsyms->name_size, symbols[i], length);
		kallsyms->name_size += length;
	}
	assert_true(kallsyms_check(kallsyms));
	return kallsyms;
}

static void expect_name(const struct recording_name *name, uint64_t address,
			const char *text, uint64_t offset)
{
	assert_int_equal(name->domain, 9);
	assert_int_equal(name->address, address);
	assert_int_equal(name->offset, offset);
	assert_int_equal(name->name.length, strlen(text));
	assert_memory_equal(name->name.at, text, strlen(text));
}

/* Addresses that were sampled before and after the names were known get one name each;
 * those of programs, of modules, and of another domain none. */
static void addresses_of_a_kernel_have_names(void **state)
{
	static const uint64_t chains[][3] = {
		{KERNEL + 5, KERNEL + 64, 0x401000},
		{KERNEL + 5, KERNEL + 70, KERNEL + 0x10000000},
		{KERNEL + 65, KERNEL + 64, KERNEL + 64},
	};
	uint64_t seed = 3;
	struct samples samples = likely_samples(3 * VCPUS, &seed);
	struct recording_end end = {.reason = END_TIME};
	struct recording_domain domain = domain_of(9), other = domain_of(8);
	int fd = file_with(NULL, 0);
	struct series series = series_to(fd);
	struct sink *sink = started(&series);
	struct recording_name name[8];
	struct reader *reader;
	struct cursor payload;
	size_t names = 0;
	unsigned int type;
	struct error err;
	sigset_t none;

	(void)state;
	assert_true(sink_domain(sink, &domain) && sink_domain(sink, &other));
	for (size_t i = 0; i < 3; i++) {
		struct round round = round_of(&samples, i * VCPUS);

		for (size_t j = 0; j < VCPUS; j++) {
			round.sample[j].domain = j ? 9 : 8;
			round.sample[j].chain.count = 3;
			round.sample[j].chain.is_stack = false;
			memcpy(round.sample[j].chain.address, chains[i],
			       sizeof(chains[i]));
		}
		sink_round(sink, &round, 0);
		if (i == 0)
			sink_kernel(sink, 9, kernel_names());
		sink_kernel(sink, 9, NULL);
	}
	sigemptyset(&none);
	assert_int_equal(sink_end(sink, &end, &none, &err), 0);

	lseek(fd, 0, SEEK_SET);
	reader = reader_new(fd);
	while (reader_next(reader, &type, &payload, &err) > 0) {
		struct name_list_reader list;

		if (type != CHUNK_NAMES)
			continue;
		assert_int_equal(name_list_read(&list, payload), 0);
		while (names < sizeof(name) / sizeof(name[0]) &&
		       name_list_next(&list, &name[names]))
			names++;
		if (names == 4)
			break; /* the texts are in the payload */
	}
	assert_int_equal(names, 4);
	for (size_t i = 0; i < names; i++) {
		if (name[i].address == KERNEL + 5)
			expect_name(&name[i], KERNEL + 5, "first", 5);
		else if (name[i].address == KERNEL + 63)
			expect_name(&name[i], KERNEL + 63, "first", 63);
		else if (name[i].address == KERNEL + 69)
			expect_name(&name[i], KERNEL + 69, "second", 5);
		else
			expect_name(&name[i], KERNEL + 65, "second", 1);
		assert_int_equal(name[i].is_last, name[i].address == KERNEL + 63);
	}
	reader_free(reader);
	samples_free(&samples);
	close(fd);
}

static void samples_without_room_are_lost_and_counted(void **state)
{
	uint64_t seed = 3;
	struct samples samples = samples_new(VCPUS);
	struct recording_end end = {.reason = END_TIME};
	struct recording_domain domain = domain_of(0);
	struct round round = round_of(&samples, 0);
	int pipes[2];
	char byte[65536];
	const uint64_t rounds = 10000;
	struct error err;
	struct series series;
	struct sink *sink;
	sigset_t none;

	(void)state;
	/* Chains that don't compress fill a pipe that is read only at the end. */
	for (size_t i = 0; i < VCPUS; i++) {
		samples.at[i].chain.count = CHAIN_MAX;
		samples.at[i].weight = 1;
	}
	assert_int_equal(pipe(pipes), 0);
	series = series_to(pipes[1]);
	sink = started(&series);
	assert_true(sink_domain(sink, &domain));
	for (uint64_t i = 0; i < rounds; i++) {
		for (size_t j = 0; j < VCPUS; j++)
			for (uint32_t k = 0; k < CHAIN_MAX; k++)
				samples.at[j].chain.address[k] = random_next(&seed);
		sink_round(sink, &round, 0);
	}
	if (fork() == 0) {
		close(pipes[1]);
		while (read(pipes[0], byte, sizeof(byte)) > 0)
			;
		_exit(0);
	}
	close(pipes[0]);
	sigemptyset(&none);
	assert_int_equal(sink_end(sink, &end, &none, &err), 0);
	assert_int_equal(end.samples + end.lost, rounds * VCPUS);
	assert_true(end.lost > 0);
	assert_true(end.samples > 0);
	assert_int_equal(end.pauses, rounds);
	close(pipes[1]);
	wait(NULL);
	samples_free(&samples);
}

/* A domain has more vCPUs than parts of a round can be allocated for. */
static void a_round_of_a_domain_without_room_is_lost_and_counted(void **state)
{
	uint64_t seed = 3;
	struct samples samples = likely_samples(VCPUS, &seed);
	struct recording_end end = {.reason = END_TIME};
	struct recording_domain domain = domain_of(0);
	struct round round = round_of(&samples, 0);
	int fd = file_with(NULL, 0);
	struct series series = series_to(fd);
	struct sink *sink = started(&series);
	struct error err;
	sigset_t none;

	(void)state;
	sigemptyset(&none);
	domain.vcpus = (uint64_t)1 << 48;
	assert_false(sink_domain(sink, &domain));
	sink_round(sink, &round, 2);
	/* There is space for a smaller one, and then only for its rounds. */
	domain.vcpus = VCPUS - 1;
	assert_true(sink_domain(sink, &domain));
	sink_round(sink, &round, 0);
	round.samples = VCPUS - 1;
	sink_round(sink, &round, 0);
	assert_int_equal(sink_end(sink, &end, &none, &err), 0);
	assert_int_equal(end.lost, 2 * VCPUS);
	assert_int_equal(end.missed, 2);
	assert_int_equal(end.samples, VCPUS - 1);
	assert_int_equal(end.pauses, 3);
	samples_free(&samples);
	close(fd);
}

/* Ends a recording in a separate process, which will be killed. */
static void end_with_stuck_reader(const struct samples *samples)
{
	struct recording_end end = {.reason = END_SIGNAL};
	struct recording_domain domain = domain_of(0);
	struct round round = round_of(samples, 0);
	struct error err;
	struct series series;
	struct sink *sink;
	sigset_t signals;
	int pipes[2];
	char byte[4096] = "";

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (pipe(pipes) < 0)
		_exit(1);
	series = series_to(pipes[1]);
	fcntl(pipes[1], F_SETFL, O_NONBLOCK);
	while (write(pipes[1], byte, sizeof(byte)) > 0)
		;
	fcntl(pipes[1], F_SETFL, 0);
	sink = started(&series);
	if (!sink_domain(sink, &domain))
		_exit(1);
	sink_round(sink, &round, 0);
	raise(SIGTERM);
	sink_end(sink, &end, &signals, &err);
	_exit(1);
}

static void a_signal_ends_waiting_for_a_stuck_reader(void **state)
{
	uint64_t seed = 3;
	struct samples samples = likely_samples(VCPUS, &seed);
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0)
		end_with_stuck_reader(&samples);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	samples_free(&samples);
}

static void what_permits_to_lock_memory_is_named(void **state)
{
	const struct rlimit none = {0, 0};
	struct error err;
	int status;
	pid_t child;

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); /* sanitizers' mlock() does nothing */
#endif
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		/* Root may lock any amount. */
		setrlimit(RLIMIT_MEMLOCK, &none);
		if (geteuid() == 0 && setuid(65534) < 0)
			_exit(2);
		_exit(sink_new(&err) || !strstr(err.text, "CAP_IPC_LOCK") ||
		      !strstr(err.text, "ulimit -l"));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* The thread is told to stop before it has found out that nobody reads any more. */
static void a_recording_ends_without_a_reader(void **state)
{
	struct recording_end end = {.reason = END_SIGNAL};
	struct recording_domain domain = domain_of(0);
	struct series series;
	struct error err;
	struct sink *sink;
	sigset_t none;
	int ends[2];

	(void)state;
	sigemptyset(&none);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	series = series_to(ends[1]);
	sink = started(&series);
	close(ends[0]);
	assert_true(sink_domain(sink, &domain));
	assert_int_equal(sink_end(sink, &end, &none, &err), -1);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_permits_to_lock_memory_is_named),
		cmocka_unit_test(rounds_of_several_domains_are_written_in_order),
		cmocka_unit_test(marks_have_names),
		cmocka_unit_test(addresses_of_a_kernel_have_names),
		cmocka_unit_test(samples_without_room_are_lost_and_counted),
		cmocka_unit_test(a_round_of_a_domain_without_room_is_lost_and_counted),
		cmocka_unit_test(a_signal_ends_waiting_for_a_stuck_reader),
		cmocka_unit_test(a_recording_ends_without_a_reader),
	};

	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

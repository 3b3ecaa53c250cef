/* SPDX-License-Identifier: BSD-3-Clause */

/* Captured stacks are unwound by several threads, with the same result for any number of
 * them, for damaged recordings, too. */

#define _GNU_SOURCE 1
#include "tests/unit/report/test_captured.h"

#include <time.h>

#include "report/archive/archive.h"

#define SAMPLES 1200
#define EACH	6  /* samples in a chunk */
#define DOMAINS 12 /* the first one is described at the start */
#define SPACES	7  /* address spaces of each */
#define APART                                                                          \
	13 /* chunks between the descriptions of the others, which samples may precede \
	    */
#define DAMAGES 30

/* Most samples have stacks, of domains that may not be known yet. */
static struct samples make_samples(uint64_t *seed)
{
	struct samples samples = likely_samples(SAMPLES, seed);

	for (size_t i = 0; i < samples.count; i++) {
		struct sample *sample = &samples.at[i];

		sample->domain = (uint32_t)(random_next(seed) % DOMAINS);
		sample->process = (struct recording_process){
			.pid = 1 + i % SPACES, .space = (1 + i % SPACES) << 12};
		if (random_next(seed) % 5)
			make_stack(&sample->chain,
				   1 + (unsigned int)(random_next(seed) % 9), seed);
	}
	return samples;
}

static void make_recording(const struct samples *samples, struct buffer *bytes)
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
		if ((i + 1) % EACH)
			continue;
		assert_int_equal(writer_flush(writer, &err), 0);
		if (i / EACH % APART || domain.index + 1 == DOMAINS)
			continue;
		domain.index++;
		domain.type = domain.index % 2 ? GUEST_PV : GUEST_KVM;
		assert_int_equal(writer_domain(writer, &domain, &err), 0);
	}
	assert_int_equal(writer_end(writer, &end, &err), 0);
	writer_free(writer);
	take_file(fd, bytes);
}

/* Gives every third domain the name that the program is for, as reports add hosts to
 * names. In the recording, all domains have one name. */
static int take_domain(void *arg, struct recording_domain *domain, struct error *err)
{
	(void)arg;
	(void)err;
	snprintf(domain->name, sizeof(domain->name), "%s",
		 domain->index % 3 ? "other" : "table");
	return 0;
}

/* Unwinds by this program's table, for the domains called "table". */
static struct replay *replay_by_this(void)
{
	struct replay *replay = replay_new("");
	char spec[64];

	snprintf(spec, sizeof(spec), "/proc/self/exe@%#lx,domain=table",
		 (unsigned long)(uintptr_t)__executable_start);
	assert_non_null(replay);
	assert_int_equal(replay_add(replay, spec), 0);
	return replay;
}

static struct load_visitor visitor_by(struct replay *replay)
{
	return (struct load_visitor){.domain = take_domain, .replay = replay};
}

/* A sample of the recording that begins at @at; moves that on to the next. */
static struct chain next_chain(const uint8_t **at)
{
	uint64_t numbers[8];
	struct chain chain;

	memcpy(numbers, *at, sizeof(numbers));
	chain.end = (enum chain_end)numbers[6];
	chain.count = (uint32_t)numbers[7];
	chain.address = (uint64_t *)(uintptr_t)(*at + sizeof(numbers));
	*at += sizeof(numbers) + chain.count * sizeof(uint64_t);
	return chain;
}

/* Whether the chunk of a domain comes before the chunk of sample @i. */
static bool is_known(uint32_t domain, size_t i)
{
	return !domain || i / EACH > (domain - 1) * (size_t)APART;
}

/* Stacks of domains that are not known yet have no callers; other stacks have all
 * callers. */
static void expect_unwound(const struct outcome *outcome, const struct samples *samples)
{
	const uint8_t *at = outcome->samples.data;
	unsigned int by_table = 0, by_frames = 0, unknown = 0;

	for (size_t i = 0; i < samples->count; i++) {
		const struct sample *captured = &samples->at[i];
		/* Two words for each frame, that of the caller, and the last address. */
		uint32_t frames = (captured->chain.count - STACK_REGISTERS - 2) / 2;
		struct chain chain = next_chain(&at);

		if (!captured->chain.is_stack)
			continue;
		assert_int_equal(chain.address[0], sampled);
		if (!is_known(captured->domain, i)) {
			unknown++;
			assert_int_equal(chain.count, 1);
			assert_int_equal(chain.end, CHAIN_NOT_CAPTURED);
		} else if (captured->domain % 3) {
			by_frames++;
			assert_int_equal(chain.count, 1 + frames);
		} else {
			by_table++;
			assert_int_equal(chain.count, 2 + frames);
			assert_int_equal(chain.address[1], CALLER);
		}
	}
	assert_true(by_table > 50 && by_frames > 50 && unknown > 50);
}

static struct captured captured_new(uint64_t seed)
{
	struct captured captured = {.samples = make_samples(&seed)};

	make_recording(&captured.samples, &captured.bytes);
	captured.fd = file_with(captured.bytes.data, captured.bytes.size);
	return captured;
}

/* Loads the recording with one thread, and frees @replay. */
static void load_by(const struct captured *captured, struct replay *replay,
		    struct outcome *outcome)
{
	assert_int_equal(lseek(captured->fd, 0, SEEK_SET), 0);
	load_sized(captured->fd, 1, 0, 0, visitor_by(replay), outcome);
	replay_free(replay);
}

static void the_number_of_threads_does_not_change_chains(void **state)
{
	struct captured captured = captured_new(21);
	struct outcome wanted, outcome;

	(void)state;
	for (unsigned int threads = 0; threads <= THREADS; threads++) {
		/* A new replay each time, so that threads need tables that are not made
		 * yet. */
		struct replay *replay = replay_by_this();
		struct outcome *to = threads ? &outcome : &wanted;

		assert_int_equal(lseek(captured.fd, 0, SEEK_SET), 0);
		/* No threads are used if the size is known to be small. */
		load_sized(captured.fd, !threads, threads, 0, visitor_by(replay), to);
		replay_free(replay);
		assert_int_equal(to->status, 0);
		if (!threads) {
			expect_unwound(&wanted, &captured.samples);
			continue;
		}
		expect_same(&outcome, &wanted);
		outcome_free(&outcome);
	}
	outcome_free(&wanted);
	captured_free(&captured);
}

/* Moves this program to its place in all domains, or in all but @other, where it is
 * higher. */
static void move_all(struct replay *replay, uint32_t other)
{
	const uint64_t start = (uintptr_t)__executable_start;

	for (uint32_t i = 0; i < DOMAINS; i++) {
		assert_int_equal(replay_move(replay, "/proc/self", i, 0, 0x1000), 0);
		assert_int_equal(replay_move(replay, "/proc/self/exe", i, 0,
					     start + (i == other ? 0x40000000 : 0)),
				 0);
	}
}

/* Returns the replay by this program, which says that it is elsewhere: it is moved to its
 * place in all domains, or in all but @other, where it is higher, but for the first
 * @spaces address spaces. */
static struct replay *replay_by_moves(uint32_t other, uint64_t spaces)
{
	const uint64_t start = (uintptr_t)__executable_start;
	struct replay *replay = replay_new("");

	assert_non_null(replay);
	assert_int_equal(replay_add(replay, "/proc/self/exe,domain=table"), 0);
	assert_int_equal(replay_move(replay, "/proc/self/exe", 0, 0, 0x1000), 0);
	replay_forget_moves(replay);
	for (uint64_t space = 1; space <= spaces; space++) {
		if (space == 3)
			move_all(replay, other);
		assert_int_equal(
			replay_move(replay, "/proc/self/exe", other, space << 12, start),
			0);
	}
	if (spaces < 3)
		move_all(replay, other);
	return replay;
}

/* Returns the replay by this program, given twice, so that its files overlap. All domains
 * have the second one at its place, and the first one @first bytes higher. */
static struct replay *replay_by_two(uint64_t first)
{
	const uint64_t start = (uintptr_t)__executable_start;
	struct replay *replay = replay_new("");

	assert_non_null(replay);
	assert_int_equal(replay_add(replay, "/proc/thread-self/exe,domain=table"), 0);
	assert_int_equal(replay_add(replay, "/proc/self/exe,domain=table"), 0);
	for (uint32_t i = 0; i < DOMAINS; i++) {
		assert_int_equal(
			replay_move(replay, "/proc/thread-self/exe", i, 0, start + first),
			0);
		assert_int_equal(replay_move(replay, "/proc/self/exe", i, 0, start), 0);
	}
	return replay;
}

/* To find a file by them, all words are callers that do not point into the stack. */
static void words_are_callers(void **state)
{
	struct samples samples = samples_new(10);
	struct captured captured;
	struct outcome outcome;
	uint64_t seed = 24;
	const uint8_t *at;

	(void)state;
	for (unsigned int i = 0; i < samples.count; i++)
		make_stack(&samples.at[i].chain, i + 1, &seed);
	captured = captured_of(samples, 1);
	load_by(&captured, replay_new_words(), &outcome);
	at = outcome.samples.data;
	for (unsigned int i = 0; i < samples.count; i++) {
		struct chain chain = next_chain(&at);

		assert_int_equal(chain.count, 2 + i + 2);
		assert_int_equal(chain.address[0], sampled);
		assert_int_equal(chain.address[1], CALLER);
		for (unsigned int j = 0; j < i; j++)
			assert_int_equal(chain.address[2 + j] & ~7ull, FAR_CALLER);
		/* The outermost function's frame pointer */
		assert_int_equal(chain.address[2 + i], 0);
		assert_int_equal(chain.address[3 + i] & ~7ull, FAR_CALLER);
	}
	outcome_free(&outcome);
	captured_free(&captured);
}

static void files_are_where_they_were_moved(void **state)
{
	struct captured captured = captured_new(23);
	struct replay *replay = replay_by_moves(DOMAINS, 0);
	struct outcome wanted, outcome;
	size_t most;

	(void)state;
	load_by(&captured, replay_by_this(), &wanted);
	expect_same_with_any(captured.fd, 1, visitor_by(replay), &wanted);
	replay_free(replay);
	load_by(&captured, replay_by_two(0x40000000), &outcome);
	expect_same(&outcome, &wanted);
	outcome_free(&outcome);
	/* Of two files at one place, the first is used. */
	load_by(&captured, replay_by_two(0), &outcome);
	expect_same(&outcome, &wanted);
	outcome_free(&outcome);
	/* Elsewhere in one of the domains that are called "table"; then only in one of
	 * its address spaces, and in none */
	load_by(&captured, replay_by_moves(3, 0), &outcome);
	/* Each caller that only the table knows is a number. */
	assert_in_range(outcome.samples.size, wanted.samples.size / 2,
			wanted.samples.size - 20 * sizeof(uint64_t));
	most = outcome.samples.size;
	outcome_free(&outcome);
	load_by(&captured, replay_by_moves(3, SPACES - 1), &outcome);
	assert_in_range(outcome.samples.size, most + 15 * sizeof(uint64_t),
			wanted.samples.size - sizeof(uint64_t));
	outcome_free(&outcome);
	replay = replay_by_moves(3, SPACES);
	expect_same_with_any(captured.fd, 1, visitor_by(replay), &wanted);
	replay_free(replay);
	outcome_free(&wanted);
	captured_free(&captured);
}

static void the_number_of_threads_does_not_change_damaged_chains(void **state)
{
	struct captured captured = captured_new(22);
	struct replay *replay = replay_by_this();
	struct buffer damaged = {0};
	uint64_t seed = 22, places = 0;

	(void)state;
	for (unsigned int i = 0; i < DAMAGES; i++) {
		struct outcome wanted;
		int fd;

		buffer_reset(&damaged);
		put_bytes(&damaged, captured.bytes.data, captured.bytes.size);
		damage_bytes(&damaged, &seed);
		fd = file_with(damaged.data, damaged.size);
		load_sized(fd, 1, 0, 0, visitor_by(replay), &wanted);
		places += wanted.summary.damage.places;
		expect_same_with_any(fd, 1, visitor_by(replay), &wanted);
		outcome_free(&wanted);
		close(fd);
	}
	assert_true(places > DAMAGES);
	replay_free(replay);
	buffer_free(&damaged);
	captured_free(&captured);
}

/*
 * A stack that pretends to be code, which is sampled: after six instructions, it
 * returns to the first word, or, if it pops one before, to the second. Both are behind a
 * call.
 */
static void make_code(struct chain *chain, bool has_pop)
{
	const uint64_t calls = STACK + 32, code = STACK + 64;
	uint64_t last = 0;

	begin_stack(chain, code, 0);
	put_word(chain, &last, STACK, calls + 2);
	put_word(chain, &last, STACK + 8, calls + 4);
	put_word(chain, &last, calls, 0xd0ffd0ff);    /* call *%rax, twice */
	put_word(chain, &last, code, 0x409090909090); /* nop; add %al,(%rax) */
	put_word(chain, &last, code + 8, has_pop ? 0xc35b : 0xc3); /* pop %rbx; ret */
	chain->address[chain->count++] = last;
}

/* What was found out about code is kept for a chunk only, because each thread unwinds
 * other chunks. */
static void chunks_do_not_change_the_chains_of_others(void **state)
{
	struct samples samples = samples_new(100);
	struct captured captured;
	struct outcome wanted;
	const uint8_t *at;

	(void)state;
	for (size_t i = 0; i < samples.count; i++)
		make_code(&samples.at[i].chain, i % 3 == 0);
	captured = captured_of(samples, 1);
	load_sized(captured.fd, 1, 0, 0, (struct load_visitor){0}, &wanted);
	at = wanted.samples.data;
	for (size_t i = 0; i < samples.count; i++) {
		struct chain chain = next_chain(&at);

		assert_int_equal(chain.count, 2);
		assert_int_equal(chain.address[1], STACK + (i % 3 ? 34 : 36));
	}
	expect_same_with_any(captured.fd, 1, (struct load_visitor){0}, &wanted);
	outcome_free(&wanted);
	captured_free(&captured);
}

/* Stacks of 900 words each, which have nothing in common, but are easy to compress. */
static struct captured record_words(void)
{
	struct samples samples = samples_new(100);

	for (size_t i = 0; i < samples.count; i++) {
		struct chain *chain = &samples.at[i].chain;
		uint64_t last = 0;

		free(chain->address);
		chain->address = calloc(STACK_CHAIN_MAX, sizeof(*chain->address));
		assert_non_null(chain->address);
		begin_stack(chain, sampled, 0);
		for (uint64_t at = STACK; at < STACK + 900 * 8; at += 8)
			put_word(chain, &last, at, STACK);
		put_word(chain, &last, STACK + (1000 + i) * 8, STACK);
		chain->address[chain->count++] = last;
	}
	return captured_of(samples, samples.count);
}

/* The limit on a recording's contents is for all words, and chains are only some of them.
 */
static void too_many_words_for_the_size_are_refused(void **state)
{
	struct captured captured = record_words();
	struct reader *reader = reader_new(captured.fd);
	const uint8_t *bytes = captured.bytes.data;
	struct buffer many = {0};
	struct cursor payload;
	struct outcome wanted;
	struct error err;
	uint64_t from = 0;
	unsigned int type;
	int fd;

	(void)state;
	assert_non_null(reader);
	do {
		from = reader_offset(reader);
		assert_int_equal(reader_next(reader, &type, &payload, &err), 1);
	} while (type != CHUNK_SAMPLES);
	put_bytes(&many, bytes, from);
	for (unsigned int i = 0; i < 40; i++)
		put_bytes(&many, bytes + from, reader_offset(reader) - from);
	reader_free(reader);
	fd = file_with(many.data, many.size);
	load_sized(fd, 1, 0, 0, (struct load_visitor){0}, &wanted);
	assert_int_equal(wanted.status, -1);
	assert_non_null(strstr(wanted.err.text, "more than a recording of its size can"));
	expect_same_with_any(fd, 1, (struct load_visitor){0}, &wanted);
	outcome_free(&wanted);
	close(fd);
	buffer_free(&many);
	captured_free(&captured);
}

static void archives_have_chains(void **state)
{
	struct samples samples = samples_new(1);
	struct ahead_stacks stacks = {.replay = replay_new("")};
	struct ahead_chunk chunk = {0};
	struct recording_domain domain = test_domain();
	struct summary summary = {0};
	struct captured captured;
	uint64_t seed = 25;
	struct reader *reader;

	(void)state;
	make_stack(&samples.at[0].chain, 5, &seed);
	captured = captured_of(samples, 1);
	reader = reader_new(captured.fd);
	assert_non_null(reader);
	assert_non_null(stacks.replay);
	assert_int_equal(summary_add_domain(&summary, &domain), 0);
	stacks.summary = &summary;
	do
		ahead_chunk_read(&chunk, reader, &stacks);
	while (chunk.status > 0 && chunk.type != CHUNK_SAMPLES);
	assert_int_equal(chunk.status, 1);
	assert_int_equal(archive_stacks(&chunk), 0);
	assert_int_equal(samples_decode(cursor_of(&chunk.payload), &chunk.batch), 0);
	assert_false(chunk.batch.has_stacks);
	assert_int_equal(chunk.batch.count, 1);
	assert_int_equal(chunk.batch.depth[chunk.batch.stack[0]], 6);
	assert_int_equal(chunk.batch.nodes, chunk.nodes);
	ahead_chunk_free(&chunk);
	reader_free(reader);
	replay_free(stacks.replay);
	summary_free(&summary);
	captured_free(&captured);
}

/* Threads that wait for a domain end, too. */
static void a_visitor_can_stop_at_any_time(void **state)
{
	struct captured captured = captured_new(23);
	struct replay *replay = replay_by_this();
	struct outcome wanted, outcome;
	int fd = captured.fd;

	(void)state;
	for (unsigned int stop_at = 1; stop_at <= SAMPLES / EACH; stop_at += 7) {
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		load_sized(fd, 1, 0, stop_at, visitor_by(replay), &wanted);
		assert_string_equal(wanted.err.text, STOPPING);
		for (unsigned int threads = 1; threads <= 3; threads++) {
			assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
			load_sized(fd, 0, threads, stop_at, visitor_by(replay), &outcome);
			expect_same(&outcome, &wanted);
			outcome_free(&outcome);
		}
		outcome_free(&wanted);
	}
	replay_free(replay);
	captured_free(&captured);
}

static double cpu_time(clockid_t clock)
{
	struct timespec time;

	assert_int_equal(clock_gettime(clock, &time), 0);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Adds a process to the summary, as reports do, while threads look up domains. */
static int add_process(void *arg, struct samples_batch *batch, struct error *err)
{
	struct summary *summary = arg;
	uint32_t index;

	(void)err;
	return summary_add_process(summary, 0, batch->processes, &index);
}

/* The CPU time of this thread alone, because other processes may delay it. */
static void stacks_are_unwound_by_other_threads(void **state)
{
	uint64_t seed = 24;
	struct samples samples = samples_new(20000);
	struct summary summary = {0};
	struct captured captured;
	struct load_visitor visitor = {.samples = add_process, .arg = &summary};
	struct input input = {.name = "input"};
	double own, all;
	struct error err;

	(void)state;
	for (size_t i = 0; i < samples.count; i++) {
		make_stack(&samples.at[i].chain, 50, &seed);
		samples.at[i].domain = i % 100 == 0; /* 1 is not known */
	}
	captured = captured_of(samples, 200);
	input.fd = captured.fd;
	own = cpu_time(CLOCK_THREAD_CPUTIME_ID);
	all = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
	assert_int_equal(load_recording(&input, 2, &summary, &visitor, &err), 0);
	own = cpu_time(CLOCK_THREAD_CPUTIME_ID) - own;
	all = cpu_time(CLOCK_PROCESS_CPUTIME_ID) - all;
	printf("%.0f of %.0f ms of CPU time are of the thread that counts\n", own * 1e3,
	       all * 1e3);
	assert_int_equal(summary.samples, samples.count);
	assert_int_equal(summary.deepest, 51);
	assert_true(own < all / 4);
	summary_free(&summary);
	captured_free(&captured);
}

int main(void)
{
	alarm(600);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_of_threads_does_not_change_chains),
		cmocka_unit_test(words_are_callers),
		cmocka_unit_test(files_are_where_they_were_moved),
		cmocka_unit_test(the_number_of_threads_does_not_change_damaged_chains),
		cmocka_unit_test(chunks_do_not_change_the_chains_of_others),
		cmocka_unit_test(too_many_words_for_the_size_are_refused),
		cmocka_unit_test(archives_have_chains),
		cmocka_unit_test(a_visitor_can_stop_at_any_time),
		cmocka_unit_test(stacks_are_unwound_by_other_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */

/* Where a program was loaded, by votes: of files that are made here, each with other
 * calls. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/elf/vote.h"

#define TRIES	  200
#define CODE_SIZE ((size_t)1 << 20)
#define CALL_SIZE 5

/* Code of calls that are 5 to 36 bytes apart, and nothing else. */
struct made {
	uint8_t *bytes;
	uint64_t *after; /* addresses behind the calls */
	size_t calls;
	struct code_range range;
	struct code code;
};

/* A generator whose numbers are the same in each run (Knuth, MMIX). */
static uint32_t next_number(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

static void make_code(struct made *made, uint64_t address, uint64_t seed)
{
	size_t at = 0;

	memset(made->bytes, 0x90, CODE_SIZE);
	made->calls = 0;
	while (at + 40 < CODE_SIZE) {
		at += next_number(&seed) % 32;
		made->bytes[at] = 0xe8;
		at += CALL_SIZE;
		made->after[made->calls++] = address + at;
	}
	made->range = (struct code_range){address, CODE_SIZE, made->bytes};
	made->code = (struct code){CPU_X86_64, &made->range, 1};
}

/* Chooses different return addresses of the code, moved by @shift. */
static void choose(const struct made *made, uint64_t shift, uint64_t seed, size_t count,
		   uint64_t *addresses)
{
	size_t step = made->calls / count;

	for (size_t i = 0; i < count; i++)
		addresses[i] = made->after[i * step + next_number(&seed) % step] + shift;
}

static int setup(void **state)
{
	struct made *made = calloc(2, sizeof(*made));

	for (int i = 0; made && i < 2; i++) {
		made[i].bytes = malloc(CODE_SIZE);
		made[i].after = calloc(CODE_SIZE / CALL_SIZE + 1, sizeof(uint64_t));
		if (!made[i].bytes || !made[i].after)
			return -1;
	}
	*state = made;
	return made ? 0 : -1;
}

static int teardown(void **state)
{
	struct made *made = *state;

	for (int i = 0; i < 2; i++) {
		free(made[i].bytes);
		free(made[i].after);
	}
	free(made);
	return 0;
}

static uint64_t shift_of(uint64_t *seed)
{
	return (uint64_t)next_number(seed) << 28 | (uint64_t)next_number(seed) << 12;
}

static void files_of_what_ran_are_found(void **state)
{
	struct made *made = *state;
	uint64_t addresses[VOTERS_MAX], seed = 1;

	for (int i = 0; i < TRIES; i++) {
		uint64_t shift = shift_of(&seed);
		size_t count = 12 + next_number(&seed) % 200, foreign = count / 2;
		struct votes votes;

		/* Half of the addresses are of another program, loaded elsewhere, and
		 * one in twelve was interrupted rather than called. */
		make_code(&made[0], 0x1000, seed);
		make_code(&made[1], 0x1000, seed + 1);
		choose(&made[0], shift, seed, count, addresses);
		for (size_t j = 12; j < count; j += 12)
			addresses[j] += 1;
		choose(&made[1], ~shift & ~(uint64_t)0xfff, seed, foreign,
		       addresses + count - foreign);
		if (count - foreign < 12)
			continue;
		if (!votes_find(&made[0].code, addresses, count, &votes))
			fail_msg("%u of %u votes, next %u of %zu", votes.behind,
				 votes.inside, votes.next, count - foreign);
		assert_int_equal(votes.shift, shift);
		assert_true(votes.behind <= votes.inside);
		assert_true(votes.inside <= count);
	}
}

static void other_files_are_not_found(void **state)
{
	struct made *made = *state;
	uint64_t addresses[VOTERS_MAX], seed = 2;

	for (int i = 0; i < TRIES; i++) {
		size_t count = 1 + next_number(&seed) % VOTERS_MAX;
		struct votes votes;

		make_code(&made[0], 0x1000, seed);
		make_code(&made[1], 0x1000, seed + 1);
		choose(&made[0], shift_of(&seed), seed, count, addresses);
		assert_false(votes_find(&made[1].code, addresses, count, &votes));
	}
}

static void few_addresses_find_nothing(void **state)
{
	struct made *made = *state;
	uint64_t addresses[VOTERS_MAX];
	struct votes votes;

	make_code(&made[0], 0x1000, 3);
	choose(&made[0], 0x10000, 3, 12, addresses);
	assert_false(votes_find(&made[0].code, addresses, 0, &votes));
	assert_false(votes_find(&made[0].code, addresses, 9, &votes));
	assert_true(votes_find(&made[0].code, addresses, 10, &votes));
	assert_int_equal(votes.behind, 10);
	/* A small program has few places, and fewer return addresses suffice. */
	made[0].range.size = 4096;
	for (size_t i = 0; i < 8; i++)
		addresses[i] = made[0].after[3 * i] + 0x10000;
	assert_false(votes_find(&made[0].code, addresses, 7, &votes));
	assert_true(votes_find(&made[0].code, addresses, 8, &votes));
	assert_int_equal(votes.shift, 0x10000);
	made[0].range.size = CODE_SIZE;
	/* Where it is known, or assumed, fewer suffice to confirm it. */
	votes = votes_count(&made[0].code, 0x10000, addresses, 3);
	assert_true(votes_confirm(&votes));
	votes = votes_count(&made[0].code, 0x10000, addresses, 2);
	assert_false(votes_confirm(&votes));
	votes = votes_count(&made[0].code, 0x11000, addresses, 12);
	assert_false(votes_confirm(&votes));
}

/* At the ends of the address space, and in code that is all calls. */
static void odd_code_is_safe(void **state)
{
	struct made *made = *state;
	uint64_t addresses[VOTERS_MAX], seed = 4;
	struct votes votes;

	make_code(&made[0], -(uint64_t)CODE_SIZE, 4);
	choose(&made[0], 0x7000, 4, 100, addresses);
	assert_true(votes_find(&made[0].code, addresses, 100, &votes));
	assert_int_equal(votes.shift, 0x7000);

	memset(made[0].bytes, 0xe8, CODE_SIZE);
	for (size_t i = 0; i < VOTERS_MAX; i++)
		addresses[i] = next_number(&seed);
	votes_find(&made[0].code, addresses, VOTERS_MAX, &votes);
	made[0].code.count = 0;
	assert_false(votes_find(&made[0].code, addresses, VOTERS_MAX, &votes));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(files_of_what_ran_are_found),
		TEST(other_files_are_not_found),
		TEST(few_addresses_find_nothing),
		TEST(odd_code_is_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */

/* The table of names, and its hash. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/names.h"
#include "base/random.h"

#define PAIRS 16 /* number of blocks to choose from */

static uint32_t fnv1a(uint32_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

static int by_hash(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

struct block {
	uint32_t hash;
	char text[8];
};

/* Finds two texts of 7 letters that take FNV-1a from @hash to one state, which is
 * returned. By the birthday paradox, 2^18 texts contain such a pair. */
static uint32_t find_pair(uint32_t hash, char pair[2][8])
{
	static struct block blocks[1 << 18];
	size_t count = sizeof(blocks) / sizeof(blocks[0]);
	uint64_t seed = hash;

	for (size_t i = 0; i < count; i++) {
		for (unsigned int j = 0; j < 7; j++)
			blocks[i].text[j] = (char)('A' + random_next(&seed) % 58);
		blocks[i].hash = fnv1a(hash, blocks[i].text);
	}
	qsort(blocks, count, sizeof(blocks[0]), by_hash);
	for (size_t i = 1; i < count; i++) {
		if (blocks[i].hash != blocks[i - 1].hash ||
		    !strcmp(blocks[i].text, blocks[i - 1].text))
			continue;
		strcpy(pair[0], blocks[i - 1].text);
		strcpy(pair[1], blocks[i].text);
		return blocks[i].hash;
	}
	fail_msg("no two blocks collide");
	return 0;
}

static double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/*
 * 2^16 names constructed to have one FNV-1a hash. A table that is vulnerable to them
 * looks at 2^31 entries.
 */
static void colliding_names_take_no_longer(void **state)
{
	char pairs[PAIRS][2][8], name[PAIRS * 8];
	struct names *names = names_new();
	uint32_t hash = 2166136261u;
	double start;

	(void)state;
	assert_non_null(names);
	for (unsigned int i = 0; i < PAIRS; i++)
		hash = find_pair(hash, pairs[i]);
	start = cpu_seconds();
	for (uint32_t choice = 0; choice < 1u << PAIRS; choice++) {
		char *to = name;

		for (unsigned int i = 0; i < PAIRS; i++)
			to = stpcpy(to, pairs[i][choice >> i & 1]);
		assert_true(fnv1a(2166136261u, name) == hash);
		assert_int_equal(names_intern(names, name), choice);
	}
	/* Takes 0.05 s; more than 10 s if each name is compared with all previous
	 * names. */
	assert_true(cpu_seconds() - start < 2);
	names_free(names);
}

static void equal_names_have_the_same_number(void **state)
{
	struct names *names = names_new();
	char name[16];

	(void)state;
	assert_non_null(names);
	for (unsigned int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 5000; i++) {
			sprintf(name, "name_%u", i);
			assert_int_equal(names_intern(names, name), i);
		}
	}
	assert_int_equal(names_count(names), 5000);
	assert_string_equal(names_get(names, 4711), "name_4711");
	/* Names are cleaned before they are stored. */
	assert_int_equal(names_intern(names, "a;b"), 5000);
	assert_int_equal(names_intern(names, "a:b"), 5000);
	names_free(names);
}

static void hashes_depend_on_each_byte_and_the_seed(void **state)
{
	unsigned char text[40] = {0};
	uint64_t seed = hash_seed(), whole;

	(void)state;
	assert_true(seed != hash_seed());
	whole = hash_bytes(text, sizeof(text), seed);
	assert_true(whole == hash_bytes(text, sizeof(text), seed));
	assert_true(whole != hash_bytes(text, sizeof(text), seed + 1));
	assert_true(whole != hash_bytes(text, sizeof(text) - 1, seed));
	for (size_t i = 0; i < sizeof(text); i++) {
		text[i] = 1;
		assert_true(whole != hash_bytes(text, sizeof(text), seed));
		text[i] = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(colliding_names_take_no_longer),
		cmocka_unit_test(equal_names_have_the_same_number),
		cmocka_unit_test(hashes_depend_on_each_byte_and_the_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

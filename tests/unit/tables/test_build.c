/* SPDX-License-Identifier: BSD-3-Clause */

/* Unwind tables give back the rules that they were made from, also from a file, and
 * damaged files only cost an error. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/random.h"
#include "format/buffer.h"
#include "tables/build.h"
#include "tables/rows_file.h"

static struct unwind_rule rule_of(int32_t cfa)
{
	return (struct unwind_rule){
		.kind = UNWIND_CALLER, .cfa = cfa, .caller = -8, .fp = UNWIND_KEPT};
}

static void add_rule(struct unwind_builder *builder, uint64_t start, uint64_t end,
		     int32_t cfa)
{
	struct unwind_rule rule = rule_of(cfa);

	assert_int_equal(unwind_builder_add(builder, start, end, &rule), 0);
}

/* The rule's CFA at @address, or 0 if there is none. */
static int32_t cfa_at(const struct unwind_table *table, uint64_t address)
{
	const struct unwind_rule *rule = unwind_table_find(table, address);

	return rule ? rule->cfa : 0;
}

static struct unwind_table *finish(struct unwind_builder *builder)
{
	struct unwind_table *table = unwind_builder_finish(builder);

	assert_non_null(table);
	return table;
}

static void rules_apply_to_their_ranges(void **state)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct unwind_table *table;

	(void)state;
	add_rule(builder, 0x1010, 0x1018, 8);
	add_rule(builder, 0x1018, 0x5000, 16);
	add_rule(builder, 0xffffffff80000000, 0xffffffff80000001, 24);
	table = finish(builder);
	unwind_builder_free(builder);
	assert_int_equal(cfa_at(table, 0), 0);
	assert_int_equal(cfa_at(table, 0x1000), 0);
	assert_int_equal(cfa_at(table, 0x100f), 0);
	assert_int_equal(cfa_at(table, 0x1010), 8);
	assert_int_equal(cfa_at(table, 0x1017), 8);
	assert_int_equal(cfa_at(table, 0x1018), 16);
	assert_int_equal(cfa_at(table, 0x2fff), 16);
	assert_int_equal(cfa_at(table, 0x3000), 16);
	assert_int_equal(cfa_at(table, 0x4fff), 16);
	assert_int_equal(cfa_at(table, 0x5000), 0);
	assert_int_equal(cfa_at(table, 0xffffffff7fffffff), 0);
	assert_int_equal(cfa_at(table, 0xffffffff80000000), 24);
	assert_int_equal(cfa_at(table, 0xffffffff80000001), 0);
	assert_int_equal(cfa_at(table, UINT64_MAX), 0);
	unwind_table_free(table);
}

static void unknown_rules_and_empty_ranges_are_not_added(void **state)
{
	struct unwind_rule unknown = {.kind = UNWIND_UNKNOWN};
	struct unwind_builder *builder = unwind_builder_new();
	struct unwind_table *table;

	(void)state;
	assert_int_equal(unwind_builder_add(builder, 0, 100, &unknown), 0);
	add_rule(builder, 50, 50, 8);
	add_rule(builder, 60, 50, 8);
	table = finish(builder);
	assert_int_equal(unwind_table_rows(table), 0);
	assert_null(unwind_table_find(table, 50));
	unwind_table_free(table);
	unwind_builder_free(builder);
}

#define SPACE	    20000
#define PART	    1250 /* of the space, with PART_RANGES ranges */
#define PART_RANGES 20

/* Where two ranges overlap, the first one's rule stays, in any order and number, also if
 * each part of the space gets its ranges together. Some pages are in long gaps. */
static void overlapping_ranges_are_right_at_every_address(void **state)
{
	static int32_t expected[SPACE];
	uint64_t random = 1;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct unwind_builder *builder = unwind_builder_new();
		size_t ranges = random_next(&random) % 300;
		struct unwind_table *table;

		memset(expected, 0, sizeof(expected));
		for (size_t i = 0; i < ranges; i++) {
			uint64_t low = round % 2 ? i / PART_RANGES * PART : 0;
			uint64_t high = round % 2 ? low + PART : SPACE;
			uint64_t start = low + random_next(&random) % (high - low);
			uint64_t size = random_next(&random) % (i % 7 ? 40 : 4000);
			uint64_t end = start + size < high ? start + size : high;
			int32_t cfa = 1 + (int32_t)(random_next(&random) % 9);

			add_rule(builder, 16 * start, 16 * end, cfa);
			for (uint64_t at = start; at < end; at++)
				if (!expected[at])
					expected[at] = cfa;
			if (i % PART_RANGES == PART_RANGES - 1)
				assert_true(unwind_builder_settle(builder));
			/* More can be added to a finished one. */
			if (i % 100 == 99)
				unwind_table_free(finish(builder));
		}
		table = finish(builder);
		for (uint64_t at = 0; at < SPACE; at++) {
			assert_int_equal(cfa_at(table, 16 * at), expected[at]);
			assert_int_equal(cfa_at(table, 16 * at + 15), expected[at]);
		}
		unwind_table_free(table);
		unwind_builder_free(builder);
	}
}

/* A dense program: functions of 64 bytes with four rules each, in two places far apart.
 */
static struct unwind_table *make_dense(void)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct unwind_table *table;

	for (uint64_t part = 0; part < 2; part++)
		for (uint64_t at = 0; at < 1 << 20; at += 16)
			add_rule(builder, (part << 40) + at, (part << 40) + at + 16,
				 8 + (int32_t)(at / 16 % 4 * 8));
	table = finish(builder);
	unwind_builder_free(builder);
	return table;
}

static void a_row_takes_less_than_five_bytes(void **state)
{
	struct unwind_table *table = make_dense();
	size_t size;

	(void)state;
	assert_ptr_equal(unwind_table_memory(table, &size), table);
	assert_int_equal(unwind_table_rows(table), 2 << 16);
	assert_true(size < 5 * unwind_table_rows(table));
	unwind_table_free(table);
}

static void tables_have_limits(void **state)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct unwind_rule rule = rule_of(8);

	(void)state;
	assert_int_equal(unwind_builder_add(builder, 0, UINT64_MAX, &rule), -1);
	for (int32_t i = 1; i < 1 << 20; i++)
		add_rule(builder, (uint64_t)i, (uint64_t)i + 1, i);
	rule.cfa = -1;
	assert_int_equal(unwind_builder_add(builder, 0, 1, &rule), -1);
	unwind_builder_free(builder);
}

/* The table's file in memory. */
static uint8_t *write_table(const struct unwind_table *table, size_t *size)
{
	FILE *file = tmpfile();
	struct error err = {{0}};
	uint8_t *data;

	assert_non_null(file);
	assert_int_equal(unwind_table_write(table, fileno(file), &err), 0);
	*size = (size_t)lseek(fileno(file), 0, SEEK_CUR);
	data = malloc(*size);
	assert_non_null(data);
	assert_int_equal(pread(fileno(file), data, *size, 0), *size);
	fclose(file);
	return data;
}

static const struct unwind_rule rules[] = {
	{UNWIND_CALLER, .from_fp = true, .cfa = 16, .caller = -8, .fp = -16},
	{UNWIND_CALLER, .from_fp = true, .from_word = true, .fp_by_register = true,
	 .word = -8, .caller = -8, .fp = 0},
	{UNWIND_CALLER, .from_fp = true, .from_word = true, .word = -8, .caller = -8,
	 .fp = UNWIND_LOST},
	{UNWIND_CALLER, .from_word = true, .word = 1 << 20, .cfa = 8,
	 .caller = UNWIND_KEPT, .fp = UNWIND_KEPT},
	{UNWIND_CALLER, .cfa = INT32_MAX, .caller = INT32_MIN, .fp = INT32_MAX},
	{UNWIND_CALLER, .cfa = 8, .caller = -8, .other = 32},
	{.kind = UNWIND_OUTERMOST},
	{UNWIND_INTERRUPTED, .word = 24, .cfa = 8, .caller = 0, .fp = UNWIND_LOST},
	{UNWIND_CALLED_SYSTEM, .other = 2, .word = UNWIND_KEPT, .fp = UNWIND_KEPT},
};
#define RULES (sizeof(rules) / sizeof(*rules))

static void expect_all_rules(const struct unwind_table *table)
{
	for (uint64_t i = 0; i < RULES; i++) {
		const struct unwind_rule *found = unwind_table_find(table, i);

		assert_int_equal(found->kind, rules[i].kind);
		assert_int_equal(found->from_fp, rules[i].from_fp);
		assert_int_equal(found->from_word, rules[i].from_word);
		assert_int_equal(found->fp_by_register, rules[i].fp_by_register);
		assert_int_equal(found->word, rules[i].word);
		assert_int_equal(found->cfa, rules[i].cfa);
		assert_int_equal(found->caller, rules[i].caller);
		assert_int_equal(found->fp, rules[i].fp);
		assert_int_equal(found->other, rules[i].other);
	}
}

static void every_field_of_a_rule_is_kept(void **state)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct unwind_table *table, *read;
	struct error err = {{0}};
	uint8_t *data;
	size_t size;

	(void)state;
	for (uint64_t i = 0; i < RULES; i++)
		unwind_builder_add(builder, i, i + 1, &rules[i]);
	table = finish(builder);
	unwind_builder_free(builder);
	expect_all_rules(table);
	data = write_table(table, &size);
	read = unwind_table_read(data, size, &err);
	assert_non_null(read);
	expect_all_rules(read);
	unwind_table_free(table);
	unwind_table_free(read);
	free(data);
}

static void a_table_is_the_same_after_writing_and_reading(void **state)
{
	struct unwind_table *table = make_dense(), *read;
	const void *memory, *read_memory;
	size_t size, memory_size, read_size;
	struct error err = {{0}};
	uint8_t *data = write_table(table, &size);

	(void)state;
	read = unwind_table_read(data, size, &err);
	assert_non_null(read);
	memory = unwind_table_memory(table, &memory_size);
	read_memory = unwind_table_memory(read, &read_size);
	assert_int_equal(memory_size, read_size);
	for (uint64_t at = 0; at < 1 << 20; at += 8)
		assert_int_equal(cfa_at(read, (1ull << 40) + at), 8 + at / 16 % 4 * 8);
	assert_ptr_not_equal(memory, read_memory);
	unwind_table_free(table);
	unwind_table_free(read);
	free(data);
}

static struct unwind_table *make_small(void)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct unwind_table *table;

	add_rule(builder, 0x1000, 0x1010, 8);
	add_rule(builder, 0x1020, 0x1030, 16);
	table = finish(builder);
	unwind_builder_free(builder);
	return table;
}

static void set_checksum(uint8_t *data, size_t size)
{
	put_le32(data + 12, (uint32_t)crc32_z(0, data + 16, size - 16));
}

static void expect_refused(const uint8_t *data, size_t size, const char *why)
{
	struct error err = {{0}};
	/* Of the exact size, so that reads beyond it are detected. */
	uint8_t *alone = malloc(size ? size : 1);

	memcpy(alone, data, size);
	assert_null(unwind_table_read(alone, size, &err));
	assert_string_equal(err.text, why);
	free(alone);
}

static void damaged_files_are_refused(void **state)
{
	struct unwind_table *table = make_small();
	size_t size;
	uint8_t *data = write_table(table, &size), *copy = malloc(size + 1);

	(void)state;
	/* A header, 2 rules, and 2 ranges of 2 + 1 + 1 and 3 * 1 bytes. */
	assert_int_equal(size, 24 + 2 * 20 + 4 + 3);
	expect_refused(data, 0, "not an unwind table");
	expect_refused((const uint8_t *)"something else", 14, "not an unwind table");
	expect_refused(data, 20, "damaged unwind table (truncated); make it again");
	for (size_t i = 24; i < size; i++)
		expect_refused(data, i,
			       "damaged unwind table (wrong checksum); make it again");
	for (size_t i = 24; i < size; i++) {
		memcpy(copy, data, i);
		set_checksum(copy, i);
		expect_refused(copy, i,
			       "damaged unwind table (truncated); make it again");
	}
	memcpy(copy, data, size);
	copy[8] = 2;
	expect_refused(copy, size,
		       "an unwind table of version 2, but this uniprof reads version 1; "
		       "make it again");
	memcpy(copy, data, size);
	copy[24] = 0;
	set_checksum(copy, size);
	expect_refused(copy, size, "damaged unwind table (unknown rule); make it again");
	memcpy(copy, data, size);
	copy[26] = 8;
	set_checksum(copy, size);
	expect_refused(copy, size, "damaged unwind table (unknown rule); make it again");
	memcpy(copy, data, size);
	copy[27] = 33;
	set_checksum(copy, size);
	expect_refused(copy, size, "damaged unwind table (unknown rule); make it again");
	memcpy(copy, data, size);
	copy[size - 1] = 2; /* the number of the last range's rule */
	set_checksum(copy, size);
	expect_refused(copy, size, "damaged unwind table (invalid range); make it again");
	memcpy(copy, data, size);
	copy[size - 2] = 0; /* its size */
	set_checksum(copy, size);
	expect_refused(copy, size, "damaged unwind table (invalid range); make it again");
	memcpy(copy, data, size);
	copy[size] = 0;
	set_checksum(copy, size + 1);
	expect_refused(copy, size + 1,
		       "damaged unwind table (trailing bytes); make it again");
	unwind_table_free(table);
	free(data);
	free(copy);
}

static void a_failing_write_is_reported(void **state)
{
	struct unwind_table *table = make_small();
	struct error err = {{0}};
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(unwind_table_write(table, pipes[0], &err), -1);
	assert_string_equal(err.text,
			    "cannot write the unwind table: Bad file descriptor");
	close(pipes[0]);
	close(pipes[1]);
	unwind_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_apply_to_their_ranges),
		cmocka_unit_test(every_field_of_a_rule_is_kept),
		cmocka_unit_test(unknown_rules_and_empty_ranges_are_not_added),
		cmocka_unit_test(overlapping_ranges_are_right_at_every_address),
		cmocka_unit_test(a_row_takes_less_than_five_bytes),
		cmocka_unit_test(tables_have_limits),
		cmocka_unit_test(a_table_is_the_same_after_writing_and_reading),
		cmocka_unit_test(damaged_files_are_refused),
		cmocka_unit_test(a_failing_write_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

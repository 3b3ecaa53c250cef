/* SPDX-License-Identifier: BSD-3-Clause */

/* Call chains not made by the writer: refused, or read within the limits. */

#define _GNU_SOURCE 1
#include "tests/unit/format/test_samples_fields.h"

/* Expects these addresses in the chain of the first sample. */
static void expect_chain(struct fields *fields, uint64_t stack, size_t count,
			 const uint64_t *addresses)
{
	struct samples_batch batch = {0};
	struct buffer payload = {0};
	uint32_t node;

	set_column(fields, SAMPLES_STACK, 3, (uint64_t[]){stack, 0, 0});
	put_fields(fields, &payload);
	assert_true(decode_batch(cursor_of(&payload), &batch));
	node = batch.stack[0];
	assert_int_equal(batch.depth[node], count);
	for (size_t i = 0; i < count; i++, node = batch.parent[node])
		assert_int_equal(batch.address[node], addresses[i]);
	buffer_free(&payload);
	samples_batch_free(&batch);
}

static void callees_are_decoded(void **state)
{
	expect_chain(*state, 3, 2, (uint64_t[]){0x2008, 0x1000});
	set_column(*state, SAMPLES_KNOWN, 2, (uint64_t[]){1, 1});
	expect_chain(*state, 3, 2, (uint64_t[]){0x2000, 0x1000});
	set_column(*state, SAMPLES_KNOWN, 1, (uint64_t[]){0});
	set_column(*state, SAMPLES_NEAR, 1, (uint64_t[]){1});
	set_column(*state, SAMPLES_CALL, 3, (uint64_t[]){0, 0, 2});
	buffer_put(&((struct fields *)*state)->field[SAMPLES_CALL_LOW], "\x02\x00", 2);
	expect_chain(*state, 3, 2, (uint64_t[]){0x11001, 0xfff});
}

static void an_unknown_callee_is_refused(void **state)
{
	static const uint64_t refused[] = {2, 3, 32, 33, 1ull << 32 | 1, UINT64_MAX};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		assert_false(accepted_with(*state, SAMPLES_KNOWN, 2,
					   (uint64_t[]){refused[i], 0}));
		assert_false(accepted_with(*state, SAMPLES_KNOWN, 2,
					   (uint64_t[]){1, refused[i]}));
	}
}

static void chains_with_an_invalid_root_or_length_are_refused(void **state)
{
	static const uint64_t drops[][4] = {
		{SAMPLES_ROOTS, 0, 5, 0}, /* beyond the last root */
		{0, 0, 2 + SAMPLES_ROOTS, 0},
		{15, 0, 3, 0}, /* the last but one */
		{0, 0, UINT64_MAX, 0},
		{0, 1ull << 32, 5, 0},
		{0, 1, 5, 0}, /* one node too many */
	};
	static const uint64_t growths[][4] = {
		{1, 2, 3, 4}, /* a negative length */
		{2, 1, 3, 4}, /* longer than what is kept */
		{2, 2, 5, 4}, /* longer than nothing */
		{2, 2, 3, 6}, /* more nodes than there are, */
		{2, 2, 3, 2}, /* and fewer */
		{2, 2, 3, UINT64_MAX}, {2, 2, 3, UINT64_MAX - 1}, {1ull << 33, 2, 3, 4},
	};

	for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++)
		assert_false(accepted_with(*state, SAMPLES_DROP, 4, drops[i]));
	for (size_t i = 0; i < sizeof(growths) / sizeof(growths[0]); i++)
		assert_false(accepted_with(*state, SAMPLES_GROWTH, 4, growths[i]));
	assert_true(accepted_with(*state, SAMPLES_DROP, 4,
				  (uint64_t[]){0, 0, 1 + SAMPLES_ROOTS, 0}));
	assert_true(accepted_with(*state, SAMPLES_DROP, 4, (uint64_t[]){13, 0, 4, 0}));
}

static void the_number_of_chains_is_limited(void **state)
{
	struct fields *fields = *state;

	/* The last chain is repeated. */
	for (unsigned int chains = 5; chains < SAMPLES_ROOTS + 6; chains++) {
		buffer_put_varint(&fields->field[SAMPLES_DROP], 0);
		buffer_put_varint(&fields->field[SAMPLES_GROWTH], 0);
		assert_int_equal(accepted(fields), chains <= SAMPLES_ROOTS + 4);
	}
}

static void stack_numbers_have_a_low_and_a_high_part(void **state)
{
	static const uint64_t refused[][3] = {
		{0, 0, 1},	    /* 128 */
		{1ull << 57, 0, 0}, /* 2^64 */
		{UINT64_MAX, 0, 0},
	};

	assert_true(accepted_with(*state, SAMPLES_STACK_HIGH, 3, (uint64_t[]){0, 0, 0}));
	assert_false(accepted_with(*state, SAMPLES_STACK_HIGH, 2, (uint64_t[]){0, 0}));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_false(accepted_with(*state, SAMPLES_STACK_HIGH, 3, refused[i]));
}

static void chains_deeper_than_the_limit_are_refused(void **state)
{
	struct fields *fields = *state;

	set_column(fields, SAMPLES_STACK, 3, (uint64_t[]){0, 0, 0});
	set_column(fields, SAMPLES_DROP, 1, (uint64_t[]){0});
	/* address 0 calling itself */
	set_column(fields, SAMPLES_CALL, 1, (uint64_t[]){0});
	set_column(fields, SAMPLES_CALL_LOW, 2, (uint64_t[]){0, 0});
	buffer_reset(&fields->field[SAMPLES_KNOWN]);
	for (uint64_t depth = 1; depth < RECORDING_MAX_DEPTH + 3; depth++) {
		set_number(fields, SAMPLES_NODES, depth);
		set_column(fields, SAMPLES_GROWTH, 1, (uint64_t[]){2 * depth});
		assert_int_equal(accepted(fields), depth <= RECORDING_MAX_DEPTH);
		buffer_put_varint(&fields->field[SAMPLES_KNOWN], 1);
	}
}

static void a_chunk_with_too_many_nodes_is_refused(void **state)
{
	struct fields *fields = *state;

	/* All nodes are outermost frames of complete chains. */
	set_column(fields, SAMPLES_DROP, 1, (uint64_t[]){0});
	set_column(fields, SAMPLES_GROWTH, 1, (uint64_t[]){2});
	buffer_reset(&fields->field[SAMPLES_NEAR]);
	for (uint32_t i = 1; i < RECORDING_MAX_NODES; i++) {
		buffer_put_varint(&fields->field[SAMPLES_DROP], 1);
		buffer_put_varint(&fields->field[SAMPLES_GROWTH], 0);
		buffer_put_varint(&fields->field[SAMPLES_NEAR], 0);
	}
	set_number(fields, SAMPLES_NODES, RECORDING_MAX_NODES);
	assert_true(accepted(fields));
	buffer_put_varint(&fields->field[SAMPLES_DROP], 1);
	buffer_put_varint(&fields->field[SAMPLES_GROWTH], 0);
	buffer_put_varint(&fields->field[SAMPLES_NEAR], 0);
	set_number(fields, SAMPLES_NODES, RECORDING_MAX_NODES + 1);
	assert_false(accepted(fields));
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		FIELDS_TEST(callees_are_decoded),
		FIELDS_TEST(an_unknown_callee_is_refused),
		FIELDS_TEST(chains_with_an_invalid_root_or_length_are_refused),
		FIELDS_TEST(the_number_of_chains_is_limited),
		FIELDS_TEST(stack_numbers_have_a_low_and_a_high_part),
		FIELDS_TEST(chains_deeper_than_the_limit_are_refused),
		FIELDS_TEST(a_chunk_with_too_many_nodes_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

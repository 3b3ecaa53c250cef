/* SPDX-License-Identifier: BSD-3-Clause */

/* The comparison of chains' links with the code while recording. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/file/link_check.h"

asm(".pushsection .text\n"
    ".macro begin name\n"
    ".p2align 4; .globl \\name; .type \\name, @function; \\name:\n"
    ".endm\n"
    "begin work; nop; ret; .size work, . - work\n"
    "begin other; nop; ret; .size other, . - other\n"
    "begin caller_of_work\n"
    "call work\n"
    ".globl after_work; after_work:\n"
    "call *%rax\n"
    ".globl after_any; after_any:\n"
    "call other\n"
    ".globl after_other; after_other:\n"
    "ret; .size caller_of_work, . - caller_of_work\n"
    "begin outermost\n"
    "call caller_of_work\n"
    ".globl after_caller; after_caller:\n"
    "ret; .size outermost, . - outermost\n"
    "begin last_is_call; nop; call *%rax; .size last_is_call, . - last_is_call\n"
    "begin caller_of_last\n"
    "call last_is_call\n"
    ".globl after_last; after_last:\n"
    "ret; .size caller_of_last, . - caller_of_last\n"
    ".popsection\n");
extern const uint8_t work[], other[], after_work[], after_any[], after_other[],
	after_caller[], after_last[];
extern const uint8_t __executable_start[];

#define WEIGHT 10

struct scene {
	struct program_table *table;
	uint64_t shift; /* how much higher the guest has the program */
	struct link_check *check;
	uint64_t address[CHAIN_MAX];
	struct sample sample;
	uint64_t counts[LINK_KINDS];
};

static uint64_t in_file(const uint8_t *code)
{
	return (uint64_t)(code - __executable_start);
}

static int setup(void **state)
{
	static const char *const specs[] = {"/proc/self/exe"};
	static struct scene scene;
	struct error err;

	scene.table = program_table_make(specs, 1, NULL, NULL, &err);
	scene.check = link_check_new();
	assert_non_null(scene.table);
	assert_non_null(scene.check);
	*state = &scene;
	return 0;
}

static int teardown(void **state)
{
	struct scene *scene = *state;

	link_check_free(scene->check);
	program_table_free(scene->table);
	return 0;
}

static void check_links(struct scene *scene, const uint64_t *chain, size_t count)
{
	const struct placed_table placed = {scene->table, {true}, {scene->shift}, 0};

	memcpy(scene->address, chain, count * sizeof(*chain));
	memset(scene->counts, 0, sizeof(scene->counts));
	scene->sample = (struct sample){
		.weight = WEIGHT,
		.chain = {.address = scene->address, .count = (uint32_t)count},
	};
	link_check_sample(scene->check, &placed, &scene->sample, scene->counts);
}

static void expect_links(const struct scene *scene, uint64_t proven, uint64_t possible,
			 uint64_t impossible, uint64_t unknown)
{
	assert_int_equal(scene->counts[LINK_PROVEN], proven * WEIGHT);
	assert_int_equal(scene->counts[LINK_POSSIBLE], possible * WEIGHT);
	assert_int_equal(scene->counts[LINK_IMPOSSIBLE], impossible * WEIGHT);
	assert_int_equal(scene->counts[LINK_UNKNOWN], unknown * WEIGHT);
}

static void links_are_counted_and_chains_kept(void **state)
{
	struct scene *scene = *state;
	const uint64_t proven[] = {in_file(work), in_file(after_work),
				   in_file(after_caller)};
	const uint64_t possible[] = {in_file(work) + 1, in_file(after_any)};
	const uint64_t unknown[] = {0x10, in_file(after_work), 0x20};

	for (unsigned int i = 0; i < 2; i++) {
		check_links(scene, proven, 3);
		expect_links(scene, 2, 0, 0, 0);
		assert_int_equal(scene->sample.chain.count, 3);
		check_links(scene, possible, 2);
		expect_links(scene, 0, 1, 0, 0);
		check_links(scene, unknown, 3);
		expect_links(scene, 0, 0, 0, 2);
		assert_int_equal(scene->sample.chain.count, 3);
		assert_int_equal(scene->sample.chain.end, CHAIN_WHOLE);
	}
}

static void an_impossible_link_ends_the_chain(void **state)
{
	struct scene *scene = *state;
	/* In the second chain, the call is to another function; in the third, no call
	 * precedes the return address. */
	const uint64_t first[] = {in_file(work), in_file(after_other),
				  in_file(after_caller)};
	const uint64_t second[] = {in_file(work), in_file(after_work), in_file(work) + 1,
				   in_file(after_work)};

	check_links(scene, first, 3);
	expect_links(scene, 0, 0, 1, 0);
	assert_int_equal(scene->sample.chain.count, 1);
	assert_int_equal(scene->sample.chain.end, CHAIN_NOT_CALLED);
	check_links(scene, second, 4);
	expect_links(scene, 1, 0, 1, 0);
	assert_int_equal(scene->sample.chain.count, 2);
	assert_int_equal(scene->sample.chain.end, CHAIN_NOT_CALLED);
}

/* The frame of a function that ends with an indirect call may be missing. */
static void a_last_call_may_lead_anywhere(void **state)
{
	struct scene *scene = *state;
	const uint64_t chain[] = {in_file(other), in_file(after_last)};

	check_links(scene, chain, 2);
	expect_links(scene, 0, 1, 0, 0);
	assert_int_equal(scene->sample.chain.count, 2);
}

static void marks_have_no_links(void **state)
{
	static const uint64_t marks[] = {CHAIN_GAP, CHAIN_INTERRUPT};
	struct scene *scene = *state;

	for (size_t i = 0; i < 2; i++) {
		const uint64_t chain[] = {in_file(work), in_file(after_work), marks[i],
					  in_file(after_caller)};

		check_links(scene, chain, 4);
		expect_links(scene, 1, 0, 0, 0);
		assert_int_equal(scene->sample.chain.count, 4);
	}
}

static void a_program_is_compared_where_the_guest_has_it(void **state)
{
	struct scene *scene = *state, moved = *scene;
	const uint64_t chain[] = {in_file(work), in_file(after_work)};
	const uint64_t higher[] = {chain[0] + 0x7000, chain[1] + 0x7000};

	moved.shift = 0x7000;
	check_links(&moved, higher, 2);
	expect_links(&moved, 1, 0, 0, 0);
	check_links(scene, chain, 2);
	expect_links(scene, 1, 0, 0, 0);
	check_links(&moved, chain, 2);
	assert_int_equal(moved.counts[LINK_PROVEN], 0);
}

/* A table that was read from a file has no code. */
static void without_code_nothing_is_known(void **state)
{
	struct scene *scene = *state, unread = *scene;
	struct program_table table = *scene->table;
	const uint64_t chain[] = {in_file(work), in_file(after_other)};

	table.program = NULL;
	unread.table = &table;
	check_links(&unread, chain, 2);
	expect_links(&unread, 0, 0, 0, 1);
	assert_int_equal(unread.sample.chain.count, 2);
}

/* A hostile guest can have different chains each time. */
static void the_number_of_comparisons_is_limited(void **state)
{
	struct scene *scene = *state;
	const uint64_t known[] = {in_file(work), in_file(after_work)};
	const uint64_t fresh[] = {in_file(work) + 1, in_file(after_work)};

	link_check_renew(scene->check);
	check_links(scene, known, 2);
	for (uint64_t i = 0; i < LINK_CHECKS; i++) {
		const uint64_t chain[] = {0x1000000 + i, 0x2000000 + i};

		check_links(scene, chain, 2);
	}
	check_links(scene, fresh, 2);
	expect_links(scene, 0, 0, 0, 1);
	link_check_renew(scene->check);
	check_links(scene, fresh, 2);
	expect_links(scene, 1, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_are_counted_and_chains_kept),
		cmocka_unit_test(an_impossible_link_ends_the_chain),
		cmocka_unit_test(a_last_call_may_lead_anywhere),
		cmocka_unit_test(marks_have_no_links),
		cmocka_unit_test(a_program_is_compared_where_the_guest_has_it),
		cmocka_unit_test(without_code_nothing_is_known),
		cmocka_unit_test(the_number_of_comparisons_is_limited),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

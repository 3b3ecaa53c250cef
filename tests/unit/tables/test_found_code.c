/* SPDX-License-Identifier: BSD-3-Clause */

/* Tables of code that is found in a guest's memory. */
#include "tests/unit/tables/test_program.h"

#include "tables/build.h"

struct scene {
	struct guest *guest;
	struct found_code *found;
};

static struct scene scene_new(void)
{
	struct scene scene = {.guest = guest_with_program(), .found = found_code_new()};

	assert_non_null(scene.found);
	return scene;
}

static void scene_free(struct scene *scene)
{
	found_code_free(scene->found);
	free(scene->guest);
}

static void examine(struct found_code *found)
{
	found_code_examine(found_code_share(found));
	found_code_free(found);
}

/* Looks at the chain; true if there is a new table afterwards. */
static bool look_at_chain(struct scene *scene, uint64_t *address, uint32_t count)
{
	if (!read_code(scene->guest, scene->found, address, count))
		return false;
	examine(scene->found);
	return found_code_renew(scene->found);
}

static bool look(struct scene *scene, uint64_t rip)
{
	return look_at_chain(scene, &rip, 1);
}

static void executed_code_gets_rules(void **state)
{
	struct scene scene = scene_new();

	(void)state;
	assert_null(found_code_table(scene.found));
	assert_true(look(&scene, CODE));
	/* The executed function is not known to start at CODE; the function that it calls
	 * is known to start at CODE + 0x20. */
	assert_int_equal(cfa_at(scene.found, CODE + 0x20), 8);
	assert_int_equal(cfa_at(scene.found, CODE + 0x21), 16);
	assert_int_equal(cfa_at(scene.found, CODE + 2 * GUEST_PAGE_SIZE), -1);
	/* The code is known by now. */
	assert_false(look(&scene, CODE + 0x21));
	scene_free(&scene);
}

static void code_elsewhere_is_added(void **state)
{
	struct scene scene = scene_new();

	(void)state;
	assert_true(look(&scene, CODE));
	assert_false(look(&scene, OTHER));
	put_program(scene.guest, OTHER - GUEST_PAGE_SIZE);
	assert_true(look(&scene, OTHER + AFTER_CALL));
	assert_int_equal(cfa_at(scene.found, CODE + 0x21), 16);
	/* The function is behind padding. */
	assert_int_equal(cfa_at(scene.found, OTHER + 0x21), 16);
	scene_free(&scene);
}

/* A function whose calls take long is hardly ever seen to execute itself. */
static void code_that_calls_return_to_is_added(void **state)
{
	struct scene scene = scene_new();
	uint64_t chain[] = {CODE, CHAIN_GAP, OTHER + AFTER_CALL};
	uint64_t no_chain[] = {CODE, OTHER + AFTER_CALL + 1};

	(void)state;
	put_program(scene.guest, OTHER - GUEST_PAGE_SIZE);
	assert_true(look_at_chain(&scene, no_chain, 2));
	assert_int_equal(cfa_at(scene.found, CODE + 0x21), 16);
	assert_false(look_at_chain(&scene, no_chain, 2));
	assert_true(look_at_chain(&scene, chain, 3));
	assert_int_equal(cfa_at(scene.found, OTHER + 0x21), 16);
	assert_false(look_at_chain(&scene, chain, 3));
	scene_free(&scene);
}

/* A walk may be using the old table until the new one replaces it. */
static void a_table_stays_until_it_is_replaced(void **state)
{
	struct scene scene = scene_new();
	const struct unwind_table *first;
	uint64_t other = OTHER;

	(void)state;
	put_program(scene.guest, OTHER - GUEST_PAGE_SIZE);
	assert_true(look(&scene, CODE));
	first = found_code_table(scene.found);
	assert_true(read_code(scene.guest, scene.found, &other, 1));
	examine(scene.found);
	assert_ptr_equal(found_code_table(scene.found), first);
	assert_int_equal(cfa_at(scene.found, CODE + 0x21), 16);
	assert_int_equal(cfa_at(scene.found, OTHER + 0x21), -1);
	assert_true(found_code_renew(scene.found));
	assert_ptr_not_equal(found_code_table(scene.found), first);
	assert_int_equal(cfa_at(scene.found, OTHER + 0x21), 16);
	assert_false(found_code_renew(scene.found));
	scene_free(&scene);
}

static void nothing_is_made_that_nobody_wants(void **state)
{
	struct scene scene = scene_new();
	uint64_t rip = CODE;

	(void)state;
	assert_true(read_code(scene.guest, scene.found, &rip, 1));
	found_code_examine(scene.found);
	assert_false(found_code_renew(scene.found));
	scene_free(&scene);
}

static void what_follows_no_call_is_no_caller(void **state)
{
	struct scene scene = scene_new();
	uint64_t address[] = {CODE + 0x21, CODE + AFTER_CALL, 0x12345, CODE + 1,
			      CODE + 7};
	struct chain chain = {.address = address, .count = 5};

	(void)state;
	found_code_check(scene.found, &nothing, x86_space(&scene.guest->cpu), &chain);
	assert_int_equal(chain.count, 5);
	assert_true(look(&scene, CODE));
	found_code_check(scene.found, &nothing, x86_space(&scene.guest->cpu), &chain);
	assert_int_equal(chain.count, 3);
	assert_int_equal(chain.end, CHAIN_NOT_CALLED);
	scene_free(&scene);
}

/* A kernel's file may describe how its code leads to a program's, which no call does. */
static void a_link_that_a_file_describes_needs_no_call(void **state)
{
	const struct unwind_rule rule = {.kind = UNWIND_INTERRUPTED, .cfa = 8};
	struct unwind_builder *builder = unwind_builder_new();
	struct scene scene = scene_new();
	uint64_t address[] = {OTHER + 8, OTHER + 8, CODE + 1, CODE + AFTER_CALL,
			      CODE + 1};
	struct chain chain = {.address = address, .count = 5};
	struct unwind_input input = {0};
	struct unwind_table *table;

	(void)state;
	assert_non_null(builder);
	assert_int_equal(unwind_builder_add(builder, OTHER, OTHER + 8, &rule), 0);
	table = unwind_builder_finish(builder);
	assert_non_null(table);
	input.table = table;
	assert_true(look(&scene, CODE));
	found_code_check(scene.found, &input, x86_space(&scene.guest->cpu), &chain);
	assert_int_equal(chain.count, 4);
	chain.count = 5;
	found_code_check(scene.found, &nothing, x86_space(&scene.guest->cpu), &chain);
	assert_int_equal(chain.count, 2);
	unwind_table_free(table);
	unwind_builder_free(builder);
	scene_free(&scene);
}

static void only_one_address_space_has_its_programs_read(void **state)
{
	struct scene scene = scene_new();
	uint64_t address[] = {CODE + 0x21, CODE + 1};
	struct chain chain = {.address = address, .count = 2};
	uint64_t space = x86_space(&scene.guest->cpu);

	(void)state;
	assert_true(look(&scene, CODE));
	assert_int_equal(found_code_space(scene.found), space);
	found_code_check(scene.found, &nothing, space + GUEST_PAGE_SIZE, &chain);
	assert_int_equal(chain.count, 2);
	found_code_check(scene.found, &nothing, space, &chain);
	assert_int_equal(chain.count, 1);
	put_program(scene.guest, OTHER);
	memcpy(scene.guest->page[FRAMES - 1], scene.guest->page[1], GUEST_PAGE_SIZE);
	scene.guest->cpu.cr3 = (uint64_t)(FRAMES - 1) << GUEST_PAGE_SHIFT;
	assert_false(look(&scene, OTHER));
	scene.guest->cpu.cr3 = space;
	assert_true(look(&scene, OTHER));
	scene_free(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(executed_code_gets_rules),
		cmocka_unit_test(code_elsewhere_is_added),
		cmocka_unit_test(code_that_calls_return_to_is_added),
		cmocka_unit_test(a_table_stays_until_it_is_replaced),
		cmocka_unit_test(nothing_is_made_that_nobody_wants),
		cmocka_unit_test(what_follows_no_call_is_no_caller),
		cmocka_unit_test(only_one_address_space_has_its_programs_read),
		cmocka_unit_test(a_link_that_a_file_describes_needs_no_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

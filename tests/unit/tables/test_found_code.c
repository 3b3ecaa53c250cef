/* SPDX-License-Identifier: BSD-3-Clause */

/* Tables of code that is found in a guest's memory. */
#include "tests/unit/arch/test_x86.h"

#include "tables/found_code.h"

#define CODE  0x401000ull
#define OTHER 0x801000ull

/* From its start on: a function that calls another one at 0x20. */
static const uint8_t program[] = {
	0x53,			      /* push %rbx */
	0xe8, 0x1a, 0x00, 0x00, 0x00, /* call 0x20 */
	0x5b,			      /* pop %rbx */
	0xc3,			      /* ret */
};
static const uint8_t callee[] = {0x50, 0x58, 0xc3}; /* push %rax; pop %rax; ret */
#define AFTER_CALL 6

struct scene {
	struct guest *guest;
	struct cpu cpu;
	struct found_code *found;
};

static void put_program(struct guest *guest, uint64_t address)
{
	for (unsigned int i = 0; i < 3; i++) {
		map_new(guest, address + i * GUEST_PAGE_SIZE);
		memset(guest_byte(guest, address + i * GUEST_PAGE_SIZE), 0xcc,
		       GUEST_PAGE_SIZE);
	}
	address += GUEST_PAGE_SIZE;
	memcpy(guest_byte(guest, address), program, sizeof(program));
	memcpy(guest_byte(guest, address + 0x20), callee, sizeof(callee));
}

static struct scene scene_new(void)
{
	struct scene scene = {.guest = guest_new(&mode_4_level),
			      .found = found_code_new()};

	assert_non_null(scene.found);
	put_program(scene.guest, CODE - GUEST_PAGE_SIZE);
	scene.cpu = (struct cpu){.family = CPU_FAMILY_X86, .x86 = scene.guest->cpu};
	return scene;
}

static void scene_free(struct scene *scene)
{
	found_code_free(scene->found);
	free(scene->guest);
}

static bool look(struct scene *scene, uint64_t rip)
{
	scene->cpu.x86.rip = rip;
	return found_code_look(scene->found, &scene->cpu, &scene->guest->memory);
}

static int32_t cfa_at(const struct scene *scene, uint64_t address)
{
	const struct unwind_rule *rule = unwind_table_find(found_code_table(scene->found),
							   address);

	return rule && rule->kind == UNWIND_CALLER && !rule->from_fp ? rule->cfa : -1;
}

static void executed_code_gets_rules(void **state)
{
	struct scene scene = scene_new();

	(void)state;
	assert_null(found_code_table(scene.found));
	assert_true(look(&scene, CODE));
	/* The function that was executed is not known to start there; the one it calls
	 * is. */
	assert_int_equal(cfa_at(&scene, CODE + 0x20), 8);
	assert_int_equal(cfa_at(&scene, CODE + 0x21), 16);
	assert_int_equal(cfa_at(&scene, CODE + 2 * GUEST_PAGE_SIZE), -1);
	/* It is known now. */
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
	assert_int_equal(cfa_at(&scene, CODE + 0x21), 16);
	/* It is behind padding. */
	assert_int_equal(cfa_at(&scene, OTHER + 0x21), 16);
	scene_free(&scene);
}

static void what_follows_no_call_is_no_caller(void **state)
{
	struct scene scene = scene_new();
	uint64_t address[] = {CODE + 0x21, CODE + AFTER_CALL, 0x12345, CODE + 1,
			      CODE + 7};
	struct chain chain = {.address = address, .count = 5};

	(void)state;
	found_code_check(scene.found, &chain);
	assert_int_equal(chain.count, 5);
	assert_true(look(&scene, CODE));
	found_code_check(scene.found, &chain);
	assert_int_equal(chain.count, 3);
	assert_int_equal(chain.end, CHAIN_NOT_CALLED);
	scene_free(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(executed_code_gets_rules),
		cmocka_unit_test(code_elsewhere_is_added),
		cmocka_unit_test(what_follows_no_call_is_no_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

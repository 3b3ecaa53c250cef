/* SPDX-License-Identifier: BSD-3-Clause */

/* Tables of arm64 code that is found in a guest's memory; see test_found_code.c. */
#include "tests/unit/unwind/test_arm64_scene.h"

#include "tables/found_code.h"

/* A function, which calls another one. */
static const uint32_t program[] = {
	0xf81f0ffe,			  /* str x30,[sp,#-16]! */
	0x94000005,			  /* bl */
	0xf84107fe,			  /* ldr x30,[sp],#16 */
	RET,	    NOP, NOP, 0xa9be7bfd, /* stp x29,x30,[sp,#-32]! */
	0xaa0103e0,			  /* mov x0,x1 */
	0xa8c27bfd,			  /* ldp x29,x30,[sp],#32 */
	RET,
};
#define AFTER_CALL (CODE + 8)
#define CALLED	   (CODE + 24)
#define OTHER	   (CODE + 0x100000)

static struct scene scene_with_program(void)
{
	struct scene scene = scene_new(&mode_4k);

	for (size_t i = 0; i < COUNT_OF(program); i++)
		put_code(&scene, CODE + 4 * i, program[i]);
	return scene;
}

/* Looks at the chain; true if there is a new table afterwards. */
static bool look(const struct scene *scene, struct found_code *found, uint64_t *address,
		 uint32_t count)
{
	const struct cpu cpu = {.family = CPU_FAMILY_ARM, .arm = scene->guest->cpu};
	const struct chain chain = {.address = address, .count = count};

	if (!found_code_read(found, &cpu, &scene->guest->memory, &chain))
		return false;
	found_code_examine(found_code_share(found));
	found_code_free(found);
	return found_code_renew(found);
}

static void executed_code_gets_rules(void **state)
{
	struct scene scene = scene_with_program();
	struct found_code *found = found_code_new();
	const struct unwind_rule *rule;
	uint64_t pc = CODE;

	(void)state;
	assert_true(look(&scene, found, &pc, 1));
	rule = unwind_table_find(found_code_table(found), CALLED);
	assert_non_null(rule);
	assert_int_equal(rule->cfa, 0);
	assert_int_equal(rule->caller, UNWIND_KEPT);
	rule = unwind_table_find(found_code_table(found), CALLED + 4);
	assert_non_null(rule);
	assert_false(rule->from_fp);
	assert_int_equal(rule->cfa, 32);
	assert_int_equal(rule->caller, -24);
	assert_int_equal(rule->fp, -32);
	found_code_free(found);
	scene_free(&scene);
}

static void what_follows_no_call_is_no_caller(void **state)
{
	struct scene scene = scene_with_program();
	struct found_code *found = found_code_new();
	uint64_t address[] = {CALLED, AFTER_CALL, CALLED + 4, AFTER_CALL};
	struct chain chain = {.address = address, .count = 4};
	uint64_t elsewhere[] = {CALLED, OTHER + 4}, callers[] = {CALLED, OTHER + 8};

	(void)state;
	assert_true(look(&scene, found, address, 1));
	found_code_check(found, &(struct unwind_input){0}, arm_space(&scene.guest->cpu),
			 &chain);
	assert_int_equal(chain.count, 2);
	assert_int_equal(chain.end, CHAIN_NOT_CALLED);

	/* Code around a return address that does not follow a call is not read. */
	map_new(scene.guest, OTHER);
	put_code(&scene, OTHER + 4, BL);
	assert_false(look(&scene, found, elsewhere, 2));
	assert_true(look(&scene, found, callers, 2));
	found_code_free(found);
	scene_free(&scene);
}

static void code_of_32_bits_is_not_examined(void **state)
{
	struct scene scene = scene_with_program();
	struct found_code *found = found_code_new();
	uint64_t pc = CODE;

	(void)state;
	scene.guest->cpu.cpsr = CPSR_SVC;
	assert_false(look(&scene, found, &pc, 1));
	scene.guest->cpu.cpsr = CPSR_EL1;
	assert_true(look(&scene, found, &pc, 1));
	found_code_free(found);
	scene_free(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(executed_code_gets_rules),
		cmocka_unit_test(what_follows_no_call_is_no_caller),
		cmocka_unit_test(code_of_32_bits_is_not_examined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

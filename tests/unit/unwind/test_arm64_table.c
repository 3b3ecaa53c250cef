/* SPDX-License-Identifier: BSD-3-Clause */

/* AArch64 call chains by the rules of a table, alone and mixed with frame records. */

#include "tests/unit/unwind/test_arm64_scene.h"
#include "tables/build.h"

/* A pointer authentication code, in bits that are not part of an address. */
#define CODED(address) ((address) | 0x1234ull << 48)

static void expect(struct scene *scene, struct unwind_builder *builder,
		   enum chain_end end, unsigned int count, const uint64_t *callers)
{
	struct unwind_table *table = unwind_builder_finish(builder);
	const struct chain *chain = &scene->chain;

	assert_non_null(table);
	scene->input.table = table;
	scene->guest->calls = 0;
	arm_unwind(&scene->guest->cpu, &scene->input, &scene->chain);
	assert_true(scene->guest->calls <= ARM64_TABLE_PAGES_MAX);
	assert_int_equal(chain->count, 1 + count);
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(chain->address[1 + i], callers[i]);
	assert_int_equal(chain->end, end);
	unwind_table_free(table);
}

static void add_rule(struct unwind_builder *builder, uint64_t start, uint64_t end,
		     struct unwind_rule rule)
{
	assert_int_equal(unwind_builder_add(builder, start, end, &rule), 0);
}

static const struct unwind_rule leaf = {
	.kind = UNWIND_CALLER, .cfa = 32, .caller = UNWIND_KEPT, .fp = UNWIND_KEPT};
static const struct unwind_rule outermost = {.kind = UNWIND_OUTERMOST};

/* A leaf that uses stack, then functions whose rules use the stack pointer and x29. */
static void rules_lead_from_caller_to_caller(void **state)
{
	const uint64_t callers[] = {RETURN(0), RETURN(1), RETURN(2)};
	struct unwind_builder *builder = unwind_builder_new();
	struct scene scene = scene_new(&mode_4k);

	(void)state;
	add_rule(builder, CODE, CODE + 0x80, leaf);
	add_rule(builder, RETURN(0) - 1, RETURN(0),
		 (struct unwind_rule){UNWIND_CALLER, .cfa = 48, .caller = -8, .fp = -16});
	add_rule(builder, RETURN(1) - 1, RETURN(1),
		 (struct unwind_rule){UNWIND_CALLER, .from_fp = true, .cfa = 64,
				      .caller = -56, .fp = -64});
	add_rule(builder, RETURN(2) - 1, RETURN(2), outermost);
	scene.guest->cpu.sp_el1 = STACK + 0x100;
	scene.guest->cpu.x[30] = CODED(RETURN(0));
	poke(&scene, STACK + 0x140, STACK + 0x180);
	poke(&scene, STACK + 0x148, CODED(RETURN(1)));
	poke(&scene, STACK + 0x180, 0);
	poke(&scene, STACK + 0x188, RETURN(2));
	expect(&scene, builder, CHAIN_WHOLE, 3, callers);
	assert_false(scene.chain.frameless);
	unwind_builder_free(builder);
	scene_free(&scene);
}

/* After a record, the stack pointer is not known, so that rules by it don't apply. */
static void chains_mix_rules_and_records(void **state)
{
	const uint64_t callers[] = {RETURN(0), RETURN(1), RETURN(2), RETURN(3)};
	struct unwind_builder *builder = unwind_builder_new();
	struct scene scene = scene_new(&mode_4k);

	(void)state;
	add_rule(builder, CODE, CODE + 0x80, leaf);
	add_rule(builder, RETURN(1) - 1, RETURN(1),
		 (struct unwind_rule){UNWIND_CALLER, .from_fp = true, .cfa = 16,
				      .caller = -8, .fp = -16});
	add_rule(builder, RETURN(3) - 1, RETURN(3), leaf);
	scene.guest->cpu.sp_el1 = STACK + 0x100;
	put_frames(&scene, STACK + 0x140, 4, 32);
	scene.guest->cpu.x[30] = RETURN(0);
	poke(&scene, STACK + 0x148, RETURN(1));
	poke(&scene, STACK + 0x168, RETURN(2));
	poke(&scene, STACK + 0x188, RETURN(3));
	poke(&scene, STACK + 0x180, 0);
	expect(&scene, builder, CHAIN_UNKNOWN, 4, callers);
	/* Records are above the stack pointer, and ascend. */
	poke(&scene, STACK + 0x160, STACK + 0x140);
	expect(&scene, builder, CHAIN_NOT_ASCENDING, 3, callers);
	scene.guest->cpu.x[29] = STACK + 0x80;
	expect(&scene, builder, CHAIN_NOT_ASCENDING, 1, callers);
	unwind_builder_free(builder);
	scene_free(&scene);
}

/* Only the sampled function's link register is known. */
static void a_caller_in_the_link_register_is_sampled(void **state)
{
	const uint64_t callers[] = {RETURN(0)};
	struct unwind_builder *builder = unwind_builder_new();
	struct scene scene = scene_new(&mode_4k);

	(void)state;
	add_rule(builder, CODE, CODE + 0x1000, leaf);
	scene.guest->cpu.sp_el1 = STACK + 0x100;
	scene.guest->cpu.x[30] = RETURN(0);
	expect(&scene, builder, CHAIN_NOT_ASCENDING, 1, callers);
	scene.guest->cpu.x[30] = 0;
	expect(&scene, builder, CHAIN_WHOLE, 0, NULL);
	unwind_builder_free(builder);
	scene_free(&scene);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_lead_from_caller_to_caller),
		cmocka_unit_test(chains_mix_rules_and_records),
		cmocka_unit_test(a_caller_in_the_link_register_is_sampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

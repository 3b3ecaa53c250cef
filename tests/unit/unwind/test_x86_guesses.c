/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules that are guesses, against frame pointers: each link is by what is proven best. */

#include "tests/unit/unwind/test_x86_scene.h"
#include "tables/build.h"
#include "unwind/returns.h"

#define HEAP 0xffffc00000c08000 /* never a return address */

/* A stack with a table of guesses: at the stack pointer there is the caller RETURN(0),
 * and the frame pointer leads to RETURN(1). */
struct guessed {
	struct scene scene;
	struct unwind_builder *builder;
	struct unwind_table *table;
	struct return_notes *returns;
};

#define FRAME (STACK + 0x200)

static struct guessed guessed_new(struct unwind_rule rule)
{
	struct guessed guessed = {scene_new(&mode_4_level), unwind_builder_new(), NULL,
				  calloc(1, sizeof(struct return_notes))};
	struct scene *scene = &guessed.scene;

	assert_non_null(guessed.builder);
	assert_non_null(guessed.returns);
	unwind_builder_guess(guessed.builder);
	assert_int_equal(unwind_builder_add(guessed.builder, CODE, CODE + 0x80, &rule),
			 0);
	guessed.table = unwind_builder_finish(guessed.builder);
	assert_non_null(guessed.table);
	scene->input.found = guessed.table;
	scene->input.found_space = x86_space(&scene->guest->cpu);
	scene->input.returns = guessed.returns;
	put_frame(scene, FRAME, 0, RETURN(1));
	scene->guest->cpu.reg[X86_RBP] = FRAME;
	poke(scene, STACK + 0x100, RETURN(0));
	return guessed;
}

static void guessed_free(struct guessed *guessed)
{
	unwind_table_free(guessed->table);
	unwind_builder_free(guessed->builder);
	free(guessed->returns);
	scene_free(&guessed->scene);
}

static void note(struct guessed *guessed, uint64_t address, enum return_kind kind)
{
	uint64_t key = return_key(address, x86_space(&guessed->scene.guest->cpu));

	guessed->returns->note[return_place(key)] = (struct return_note){.key = key,
									 .kind = kind};
}

/* Checks that the first caller is @caller. */
static void expect_caller(struct guessed *guessed, uint64_t caller)
{
	struct scene *scene = &guessed->scene;

	x86_unwind(&scene->guest->cpu, &scene->input, &scene->chain);
	assert_true(scene->chain.count >= 2);
	assert_int_equal(scene->chain.address[1], caller);
}

static const struct unwind_rule by_sp = {
	.kind = UNWIND_CALLER, .cfa = 8, .caller = -8, .fp = UNWIND_KEPT};

static void guesses_are_followed(void **state)
{
	struct guessed guessed = guessed_new(by_sp);

	(void)state;
	expect_caller(&guessed, RETURN(0));
	note(&guessed, RETURN(1), RETURN_GOOD);
	expect_caller(&guessed, RETURN(0));
	guessed_free(&guessed);
}

static void what_is_no_return_address_loses_against_frames(void **state)
{
	struct guessed guessed = guessed_new(by_sp);

	(void)state;
	poke(&guessed.scene, STACK + 0x100, HEAP);
	expect_caller(&guessed, HEAP);
	note(&guessed, HEAP, RETURN_BAD);
	expect_caller(&guessed, RETURN(1));
	guessed_free(&guessed);
}

static void a_guess_that_was_wrong_is_not_repeated(void **state)
{
	struct guessed guessed = guessed_new(by_sp);

	(void)state;
	guess_is_wrong(guessed.returns, return_key(guessed.scene.guest->cpu.rip,
						   x86_space(&guessed.scene.guest->cpu)));
	expect_caller(&guessed, RETURN(1));
	guessed_free(&guessed);
}

static void no_guess_skips_a_frame_that_is_nearer(void **state)
{
	const struct unwind_rule far = {
		.kind = UNWIND_CALLER, .cfa = 0x200, .caller = -8, .fp = UNWIND_KEPT};
	struct guessed guessed = guessed_new(far);

	(void)state;
	poke(&guessed.scene, STACK + 0x100 + 0x200 - 8, RETURN(2));
	expect_caller(&guessed, RETURN(2));
	note(&guessed, RETURN(1), RETURN_GOOD);
	expect_caller(&guessed, RETURN(1));
	guessed_free(&guessed);
}

static void a_guessed_start_loses_against_a_frame(void **state)
{
	struct guessed guessed = guessed_new(
		(struct unwind_rule){.kind = UNWIND_OUTERMOST});
	struct scene *scene = &guessed.scene;

	(void)state;
	x86_unwind(&scene->guest->cpu, &scene->input, &scene->chain);
	assert_int_equal(scene->chain.count, 1);
	assert_int_equal(scene->chain.end, CHAIN_WHOLE);
	note(&guessed, RETURN(1), RETURN_GOOD);
	expect_caller(&guessed, RETURN(1));
	guessed_free(&guessed);
}

/* Another program has other code at the same address. */
static void guesses_are_for_one_address_space(void **state)
{
	struct guessed guessed = guessed_new(by_sp);
	struct scene *scene = &guessed.scene;

	(void)state;
	expect_caller(&guessed, RETURN(0));
	scene->input.found_space += GUEST_PAGE_SIZE;
	expect_caller(&guessed, RETURN(1));
	scene->input.found_space -= GUEST_PAGE_SIZE;
	expect_caller(&guessed, RETURN(0));
	guessed_free(&guessed);
}

static void guesses_cost_a_bounded_number_of_pages(void **state)
{
	uint64_t seed = 9;

	(void)state;
	for (unsigned int round = 0; round < 500; round++) {
		struct unwind_rule rule = by_sp;
		struct guessed guessed;
		struct scene *scene;

		rule.cfa = (int32_t)(random_next(&seed) % 0x4000) & ~7;
		guessed = guessed_new(rule);
		scene = &guessed.scene;
		for (uint64_t at = STACK; at < STACK_END; at += 8)
			poke(scene, at,
			     random_next(&seed) % 2
				     ? CODE + random_next(&seed) % 0x80
				     : at + random_next(&seed) % 0x1000 / 8 * 8);
		scene->guest->calls = 0;
		x86_unwind(&scene->guest->cpu, &scene->input, &scene->chain);
		assert_true(scene->guest->calls <= X86_TABLE_PAGES_MAX + GUESS_PAGES_MAX);
		guessed_free(&guessed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guesses_are_followed),
		cmocka_unit_test(what_is_no_return_address_loses_against_frames),
		cmocka_unit_test(a_guess_that_was_wrong_is_not_repeated),
		cmocka_unit_test(no_guess_skips_a_frame_that_is_nearer),
		cmocka_unit_test(a_guessed_start_loses_against_a_frame),
		cmocka_unit_test(guesses_are_for_one_address_space),
		cmocka_unit_test(guesses_cost_a_bounded_number_of_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

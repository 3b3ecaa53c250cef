/* SPDX-License-Identifier: BSD-3-Clause */

/* AArch32 call chains: frames of Thumb code, whose layout is given by the first
 * instructions of each function. */

#include "tests/unit/unwind/test_arm32.h"

/* How functions of Thumb code start, and the distance in bytes from r7 to the caller's r7
 * and to the return address. */
struct start {
	uint32_t next, caller;
	uint16_t code[12];
};

static const struct start starts[] = {
	{0, 4, {0xb580, 0xaf00}},	   /* push {r7, lr}; add r7, sp, #0 */
	{8, 12, {0xb580, 0xb082, 0xaf00}}, /* sub sp, #8 */
	{8, 12, {0xb590, 0xb085, 0xaf04}}, /* {r4, r7, lr}, 20 bytes, 16 of them below */
	{8, 28, {0xe92d, 0x4fb0, 0x4690, 0xaf00}},		/* {r4, r5, r7-r11, lr} */
	{0, 4, {0xb5f0, 0xaf03, 0xe92d, 0x0700}},		/* clang's */
	{12, 16, {0xb590, 0xed2d, 0x8b02, 0xaf00}},		/* vpush {d8} */
	{8008, 8012, {0xb580, 0xf5ad, 0x5dfa, 0xb082, 0xaf00}}, /* sub.w sp, sp, #8000 */
	{1008, 1012, {0xb5b0, 0xf2ad, 0x3de8, 0xaf00}},		/* subw sp, sp, #1000 */
	/* and add.w r7, sp, #256 */
	{7744, 7748, {0xb580, 0xf5ad, 0x5dfa, 0xf50d, 0x7780}},
	/* str.w r4, [sp, #-20]!; strd r5, r6, [sp, #4]; strd r7, lr, [sp, #12];
	 * sub sp, #20; add r7, sp, #0 */
	{32, 36, {0xf84d, 0x4d14, 0xe9cd, 0x5601, 0xe9cd, 0x7e03, 0xb085, 0xaf00}},
	/* strd r3, r4, [sp, #-16]!; strd r7, lr, [sp, #8]; add r7, sp, #0 */
	{8, 12, {0xe96d, 0x3404, 0xe9cd, 0x7e02, 0xaf00}},
	/* strd r4, r5, [sp, #-32]!; strd r7, r8, [sp, #8]; add r7, sp, #0;
	 * strd r9, r10, [sp, #16]; strd r11, lr, [sp, #24] */
	{8, 28, {0xe96d, 0x4508, 0xe9cd, 0x7802, 0xaf00, 0xe9cd, 0x9a04, 0xe9cd, 0xbe06}},
	/* push {r4, r7, lr}; ldr.w lr, [r0, #96]; add r7, sp, #0 */
	{4, 8, {0xb590, 0xf8d0, 0xe060, 0xaf00}},
	/* push {r0-r3}; push {r7, lr}; cmp; mov; sub sp, #16; add r7, sp, #8 */
	{8, 12, {0xb40f, 0xb580, 0x2800, 0x4601, 0xb084, 0xaf02}},
};

/* Writes a function with this many calls; returns the address after the last one. */
static uint32_t put_start(struct scene *scene, uint32_t at, const struct start *start,
			  unsigned int calls)
{
	static const uint16_t bl[] = {0xf000, 0xf810};
	/* Constants in the middle of the function. As code, two push r7, and two set up a
	 * frame. */
	static const uint16_t constants[] = {0xb580, 0,	     0xaf00, 6,	     0xb4b8,
					     6,	     0xb44c, 6,	     0xaf3c, 6};
	size_t count = 0;

	while (count < COUNT_OF(start->code) && start->code[count])
		count++;
	at = put_code(scene, at, start->code, count);
	if (calls > 10)
		at = put_code(scene, at, constants, COUNT_OF(constants));
	for (unsigned int i = 0; i < calls; i++)
		at = put_code(scene, at, bl, COUNT_OF(bl));
	return at;
}

#define FUNCTIONS      20
#define FUNCTIONS_CODE 0x20000u

/* A chain of such functions: the return address into each, and its frame. */
static void put_functions(struct scene *scene, uint64_t *seed, uint32_t *goes_on)
{
	uint32_t code = FUNCTIONS_CODE + random_next(seed) % 2048 * 2;
	uint32_t frame = STACK + 0x100;
	uint32_t next_at = 0, caller_at = 0;

	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		const struct start *start = &starts[random_next(seed) % COUNT_OF(starts)];

		code += 2 * (random_next(seed) % 4);
		goes_on[i] = code = put_start(scene, code, start,
					      1 + random_next(seed) % 60);
		if (i) {
			poke(scene, next_at, frame);
			poke(scene, caller_at, code + 1);
		}
		next_at = frame + start->next;
		caller_at = frame + start->caller;
		frame = caller_at + 4 * (2 + random_next(seed) % 16);
	}
	poke(scene, next_at, 0);
	poke(scene, caller_at, RETURN(0) + 1);
}

static void expect_functions(struct scene *scene, const uint32_t *goes_on)
{
	unwind(scene);
	assert_int_equal(scene->chain.end, CHAIN_UNKNOWN);
	assert_int_equal(scene->chain.count, 1 + FUNCTIONS);
	for (unsigned int i = 1; i < FUNCTIONS; i++)
		assert_int_equal(scene->chain.address[i], goes_on[i]);
	assert_int_equal(scene->chain.address[FUNCTIONS], RETURN(0));
}

static void frames_are_found_from_function_prologues(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		struct scene scene = scene_new(modes[round % COUNT_OF(modes)], true);
		struct code_notes notes = {.budget = CODE_BUDGET_MAX};
		uint32_t goes_on[FUNCTIONS];

		for (uint32_t i = 0; i < 4; i++)
			map_new(scene.guest, FUNCTIONS_CODE + i * GUEST_PAGE_SIZE);
		/* Variables that look like frames and return addresses. */
		for (uint32_t word = STACK; word < STACK_END; word += 4)
			poke(&scene, word, word % 8 ? RETURN(word / 4) + 1 : word + 64);
		put_functions(&scene, &seed, goes_on);
		scene.guest->cpu.pc = goes_on[0] - 4;
		*frame_pointer(&scene) = STACK + 0x100;
		expect_functions(&scene, goes_on);
		scene.input.notes = &notes;
		expect_functions(&scene, goes_on);
		expect_functions(&scene, goes_on);
		scene_free(&scene);
	}
}

/* Makes the page at @address unavailable, or available again. */
static void take_page(struct scene *scene, uint32_t address, bool taken)
{
	size_t page = (size_t)(guest_byte(scene->guest, address) -
			       (uint8_t *)scene->guest->page) /
		      GUEST_PAGE_SIZE;

	scene->guest->missing[page] = taken;
}

static void results_of_code_searches_are_noted(void **state)
{
	static const struct start start = {8, 12, {0xb580, 0xb082, 0xaf00}};
	struct code_notes notes = {.budget = CODE_BUDGET_MAX};
	struct scene scene = scene_new(&mode_short, true);
	uint32_t frame = STACK + 0x200;

	(void)state;
	map_new(scene.guest, FUNCTIONS_CODE);
	scene.input.notes = &notes;
	scene.guest->cpu.pc = put_start(&scene, CODE + 0x200, &start, 4) - 4;
	*frame_pointer(&scene) = frame;
	for (unsigned int i = 0; i < 3; i++, frame += 64) {
		uint32_t caller = FUNCTIONS_CODE + 512 * i;

		caller = put_start(&scene, caller, &start, 1 + i);
		put_frame(&scene, RECORD, frame, 0, 0);
		put_frame(&scene, RECORD, frame + 8, frame + 64, caller);
	}
	put_frame(&scene, RECORD, frame + 8, 0, RETURN(0));

	unwind(&scene);
	assert_int_equal(scene.chain.end, CHAIN_UNKNOWN);
	assert_int_equal(scene.chain.count, 5);
	take_page(&scene, FUNCTIONS_CODE, true);
	unwind(&scene);
	assert_int_equal(scene.chain.end, CHAIN_UNKNOWN);
	assert_int_equal(scene.chain.count, 5);
	assert_int_equal(scene.chain.address[4], RETURN(0));
	/* Other tables have other contents. */
	scene.guest->cpu.ttbr1 ^= GUEST_PAGE_SIZE;
	unwind(&scene);
	assert_int_equal(scene.chain.end, CHAIN_NO_PAGE);
	assert_int_equal(scene.chain.count, 2);
	/* Code that could not be read is not noted. */
	take_page(&scene, FUNCTIONS_CODE, false);
	unwind(&scene);
	assert_int_equal(scene.chain.end, CHAIN_UNKNOWN);
	assert_int_equal(scene.chain.count, 5);
	scene_free(&scene);
}

static void the_search_for_a_prologue_is_limited(void **state)
{
	static const struct start start = {8, 12, {0xb580, 0xb082, 0xaf00}};
	/* Minus the code searched because of the two constants that push r7. */
	const uint32_t limit = UNWIND_BACK_PAGES_MAX * GUEST_PAGE_SIZE - 2 * 128;
	struct scene scene = scene_new(&mode_short, true);
	const uint32_t frame = STACK + 0x200;

	(void)state;
	for (uint32_t at = 0; at <= limit; at += GUEST_PAGE_SIZE)
		map_new(scene.guest, FUNCTIONS_CODE + at);
	put_start(&scene, FUNCTIONS_CODE, &start, limit / 4 + 10);
	put_frame(&scene, RECORD, frame + 8, 0, RETURN(2));
	*frame_pointer(&scene) = frame;
	scene.guest->cpu.pc = FUNCTIONS_CODE + limit;
	unwind(&scene);
	assert_int_equal(scene.chain.address[1], RETURN(2));
	scene.guest->cpu.pc = FUNCTIONS_CODE + limit + 2;
	unwind(&scene);
	assert_int_equal(scene.chain.end, CHAIN_NOT_READY);
	assert_int_equal(scene.chain.count, 1);
	scene_free(&scene);
}

static void frames_found_from_code_are_checked(void **state)
{
	/* push {r7, lr}; sub sp, #8; add.w r7, sp, #1 */
	static const struct start odd = {0, 0, {0xb580, 0xb082, 0xf10d, 0x0701}};
	/* sub.w sp, sp, #0x10000000 */
	static const struct start far = {0, 0, {0xb580, 0xf1ad, 0x5d80, 0xaf00}};
	struct scene scene = scene_new(&mode_short, true);

	(void)state;
	*frame_pointer(&scene) = STACK + 0x200;
	scene.guest->cpu.pc = put_start(&scene, CODE + 0x200, &odd, 4) - 4;
	unwind(&scene);
	assert_int_equal(scene.chain.end, CHAIN_UNALIGNED);
	scene.guest->cpu.pc = put_start(&scene, CODE + 0x200, &far, 4) - 4;
	unwind(&scene);
	assert_int_equal(scene.chain.end, CHAIN_NOT_PRESENT);
	/* A stack pointer that leads nowhere: pop {r7, pc} */
	poke(&scene, CODE + 0x200, 0xbd80bd80);
	scene.guest->cpu.pc = CODE + 0x200;
	*stack_pointer(&scene) = STACK + 2;
	unwind(&scene);
	assert_int_equal(scene.chain.end, CHAIN_UNALIGNED);
	*stack_pointer(&scene) = STACK_END;
	unwind(&scene);
	assert_int_equal(scene.chain.end, CHAIN_NOT_PRESENT);
	/* A stack pointer that leads to readable memory, and down. */
	*stack_pointer(&scene) = STACK;
	poke(&scene, STACK, STACK);
	poke(&scene, STACK + 4, OWN + 1);
	unwind(&scene);
	assert_int_equal(scene.chain.end, CHAIN_NOT_ASCENDING);
	assert_int_equal(scene.chain.count, 2);
	assert_int_equal(scene.chain.address[1], OWN);
	/* The outermost function. */
	put_frame(&scene, RECORD, STACK + 0x200, 0, RETURN(0));
	poke(&scene, STACK + 4, 0);
	unwind(&scene);
	assert_int_equal(scene.chain.end, CHAIN_UNKNOWN);
	assert_int_equal(scene.chain.count, 1);
	scene_free(&scene);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_found_from_function_prologues),
		cmocka_unit_test(results_of_code_searches_are_noted),
		cmocka_unit_test(the_search_for_a_prologue_is_limited),
		cmocka_unit_test(frames_found_from_code_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

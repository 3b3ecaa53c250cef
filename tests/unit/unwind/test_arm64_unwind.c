/* SPDX-License-Identifier: BSD-3-Clause */

/* AArch64 call chains: no caller skipped, no guest trusted, no endless walk. */

#include "tests/unit/unwind/test_deep.h"
#include "tests/unit/unwind/test_arm64_scene.h"

static const struct mode mode_16k = MODE("16K, 47 bits", EL1, TCR_16K | TCR_SIZES(47, 39),
					 LONG, 0, CUT(36, 25, 14), CUT(11, 11, 11));
static const struct mode *const modes[] = {&mode_4k, &mode_5_levels, &mode_16k};

static void unwind(struct scene *scene)
{
	scene->guest->calls = 0;
	memset(scene->chain.address, 0xaa, CHAIN_MAX * sizeof(uint64_t));
	arm_unwind(&scene->guest->cpu, &scene->input, &scene->chain);
	assert_true(scene->chain.count >= 1 && scene->chain.count <= CHAIN_MAX);
	assert_int_equal(scene->chain.address[0], scene->guest->cpu.pc);
	assert_true(scene->chain.end < CHAIN_ENDS);
	assert_true(scene->guest->calls <= ARM64_UNWIND_PAGES_MAX);
}

/* Checks that the chain is the sampled address and the first @count of put_frames(). */
static void expect_chain(struct scene *scene, unsigned int count, enum chain_end end)
{
	unwind(scene);
	assert_false(scene->chain.frameless);
	assert_int_equal(scene->chain.end, end);
	assert_int_equal(scene->chain.count, 1 + count);
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(scene->chain.address[1 + i], RETURN(i));
}

static void expect_deep(struct scene *scene, unsigned int count)
{
	uint64_t callers[2 * CHAIN_MAX];

	for (unsigned int i = 0; i < count; i++)
		callers[i] = RETURN(i);
	unwind(scene);
	assert_int_equal(scene->chain.end, CHAIN_UNKNOWN);
	expect_gap(&scene->chain, count, callers);
}

static void chains_of_every_length_are_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct scene scene = scene_new(modes[i]);

		for (unsigned int count = 0; count < CHAIN_MAX; count++) {
			put_frames(&scene, STACK + 0x208, count, 64);
			expect_chain(&scene, count, CHAIN_UNKNOWN);
		}
		put_frames(&scene, STACK + 0x208, CHAIN_MAX + 10, 64);
		expect_deep(&scene, CHAIN_MAX + 10);
		put_frames(&scene, STACK + 0x208, 10, 64);
		poke(&scene, STACK + 0x208 + 6 * 64 + 8, 0);
		expect_chain(&scene, 6, CHAIN_UNKNOWN);
		scene_free(&scene);
	}
}

static void frames_at_any_offset_in_a_page_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct scene scene = scene_new(modes[i]);

		for (uint64_t offset = 8; offset < 2048; offset += 8 * 37)
			for (unsigned int apart = 16; apart <= 4096; apart *= 2) {
				put_frames(&scene, STACK + GUEST_PAGE_SIZE - offset, 60,
					   apart);
				expect_chain(&scene, 60, CHAIN_UNKNOWN);
			}
		scene_free(&scene);
	}
}

static void a_chain_that_is_cut_has_a_reason(void **state)
{
	struct scene scene = scene_new(&mode_4k);
	uint64_t last = STACK + 0x200 + 9 * 64;

	(void)state;
	put_frames(&scene, STACK + 0x200, 10, 64);
	poke(&scene, last, last);
	expect_chain(&scene, 10, CHAIN_NOT_ASCENDING);
	poke(&scene, last, STACK + 0x200);
	expect_chain(&scene, 10, CHAIN_NOT_ASCENDING);
	poke(&scene, last, last + 4);
	expect_chain(&scene, 10, CHAIN_UNALIGNED);
	poke(&scene, last, 0x12345000);
	expect_chain(&scene, 10, CHAIN_NOT_PRESENT);
	poke(&scene, last, 1ull << 48);
	expect_chain(&scene, 10, CHAIN_NOT_CANONICAL);
	/* The return address is at the end of the address space. */
	map_new(scene.guest, 0xfffffffff000);
	poke(&scene, last, 0xfffffffffff8);
	expect_chain(&scene, 10, CHAIN_NOT_CANONICAL);
	map(scene.guest, STACK_END, 0x400000000, GUEST_PAGE_SHIFT);
	poke(&scene, last, STACK_END);
	expect_chain(&scene, 10, CHAIN_NO_PAGE);
	scene.guest->cpu.x[29] = STACK + 0x203;
	expect_chain(&scene, 0, CHAIN_UNALIGNED);
	scene_free(&scene);
}

/* Authentication codes use all bits not used by the address except bit 55. */
static void authentication_codes_are_removed_from_return_addresses(void **state)
{
	struct scene scene = scene_new(&mode_4k);
	uint64_t at = STACK + 0x200;

	(void)state;
	put_frames(&scene, at, 3, 64);
	poke(&scene, at + 8, RETURN(0) | 0x5a35000000000000);
	poke(&scene, at + 64 + 8, RETURN(1) | 0xff7f000000000000);
	expect_chain(&scene, 3, CHAIN_UNKNOWN);
	/* The upper half has addresses of 39 bits here. */
	poke(&scene, at + 8, 0xa5b5a5d012345678);
	poke(&scene, at + 64 + 8, 0xffffffd0aaaaaaa8);
	unwind(&scene);
	assert_int_equal(scene.chain.address[1], 0xffffffd012345678);
	assert_int_equal(scene.chain.address[2], 0xffffffd0aaaaaaa8);
	/* A code alone is not a return address. */
	poke(&scene, at + 8, 0x5a35000000000000);
	expect_chain(&scene, 0, CHAIN_UNKNOWN);
	/* It is removed from the link register, too: here, autiasp and ret follow. */
	put_code(&scene, CODE + 0x10, 0xd50323bf);
	put_code(&scene, CODE + 0x14, RET);
	scene.guest->cpu.x[30] = LINK | 0x1234000000000000;
	unwind(&scene);
	assert_true(scene.chain.frameless);
	assert_int_equal(scene.chain.address[1], LINK);
	scene_free(&scene);
}

/* Functions as compiled by GCC 12 and clang 14. For each instruction: L if the return
 * address is in the link register and x29 is the caller's; F if there is a frame. */
struct function {
	const char *name, *states;
	uint32_t code[16];
};

static const struct function functions[] = {
	{"a leaf with a loop",
	 "LLLLLLL", /* bti c; mov; cmp; b.le; add; b.ne; ret */
	 {0xd503245f, 0x2a0003e4, 0x7100001f, 0x5400016d, 0x11000442, 0x54ffffe1, RET}},
	{"a leaf with a stack",
	 "LLLLL", /* sub sp; str; ldr; add sp; ret */
	 {0xd10083ff, 0xb9000fe0, 0xb9400fe0, 0x910083ff, RET}},
	/* stp x29, x30, [sp, #-32]!; mov x29, sp; str x19; bl; ldr x19; ldp; ret */
	{"with calls",
	 "LLFFFFL",
	 {0xa9be7bfd, 0x910003fd, 0xf9000bf3, BL, 0xf9400bf3, 0xa8c27bfd, RET}},
	/* paciasp; stp; mov x29, sp; bl; ldp; autiasp; ret */
	{"with authentication",
	 "LLLFFLL",
	 {0xd503233f, 0xa9be7bfd, 0x910003fd, BL, 0xa8c27bfd, 0xd50323bf, RET}},
	/* stp; mov x29, sp; blr x1; ldp; retaa */
	{"with authentication in its return",
	 "LLFFL",
	 {0xa9be7bfd, 0x910003fd, 0xd63f0020, 0xa8c27bfd, 0xd65f0bff}},
	/* sub sp; stp x29, x30, [sp, #48]; add x29, sp, #48; nop; ldp [sp, #48]; add; ret
	 */
	{"clang's with a large frame",
	 "LLLFFLL",
	 {0xd10103ff, 0xa9037bfd, 0x9100c3fd, NOP, 0xa9437bfd, 0x910143ff, RET}},
	/* stp x22, x21; stp x29, x30, [sp, #16]; add x29, sp, #16; mov sp, x29; ldp; ret
	 */
	{"with a stack of its own making",
	 "LLLFFL",
	 {0xa9be57f6, 0xa9017bfd, 0x910043fd, 0x910003bf, 0xa8c27bfd, RET}},
	/* cbz x0, to its ret; stp; mov; bl; ldp; ret */
	{"that makes its frame late",
	 "LLLFFL",
	 {0xb4000040, 0xa9be7bfd, 0x910003fd, BL, 0xa8c27bfd, RET}},
	/* str x30, [sp, #-16]!; bl; ldr x30, [sp], #16; ret */
	{"without frame pointers", "LFFL", {0xf81f0ffe, BL, 0xf84107fe, RET}},
	/* stp; mov; nop; ldp; b to a leaf, nops and ret */
	{"with a call for its end",
	 "LLFFLLL",
	 {0xa9be7bfd, 0x910003fd, NOP, 0xa8c27bfd, B | 1, NOP, RET}},
	{"a hypercall", "LLL", {0xd2800210, 0xd401d422, RET}}, /* mov x16; hvc; ret */
	{"that never returns", "FF", {NOP, B | 0x3ffffff}},
	{"that goes where a register says", "FF", {NOP, 0xd61f0200}}, /* br x16 */
	{"that traps", "FFL", {NOP, 0xd4210000, RET}},		      /* brk */
	{"that returns from an exception", "FFL", {NOP, 0xd69f03e0, RET}},
	/* Registers of other kinds: stp q29, q30; str w30; ldr x0, [sp, x30]; and other
	 * places: str x30, [x0, #8] */
	{"of look-alikes", "FFFFF", {0xad007bfd, 0xb90003fe, 0xf87e6be0, 0xf900041e, BL}},
};

static void the_return_address_is_found_from_the_code(void **state)
{
	struct scene scene = scene_new(&mode_4k);
	const uint64_t at = CODE + 0x200;

	(void)state;
	put_frames(&scene, STACK + 0x200, 3, 64);
	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		const struct function *function = &functions[i];

		for (size_t j = 0; j < COUNT_OF(function->code); j++)
			put_code(&scene, at + j * 4, function->code[j]);
		for (size_t j = 0; function->states[j]; j++) {
			bool is_live = function->states[j] == 'L';

			scene.guest->cpu.pc = at + j * 4;
			unwind(&scene);
			if (scene.chain.frameless != is_live)
				fail_msg("a function %s, instruction %zu", function->name,
					 j);
			assert_int_equal(scene.chain.count, is_live ? 5 : 4);
			if (is_live)
				assert_int_equal(scene.chain.address[1], LINK);
			assert_int_equal(scene.chain.address[is_live + 1], RETURN(0));
			assert_int_equal(scene.chain.end, CHAIN_UNKNOWN);
		}
	}
	scene_free(&scene);
}

static void a_link_register_of_0_adds_no_caller(void **state)
{
	struct scene scene = scene_new(&mode_4k);

	(void)state;
	put_frames(&scene, STACK + 0x200, 3, 64);
	put_code(&scene, CODE + 0x10, RET);
	scene.guest->cpu.x[30] = 0;
	expect_chain(&scene, 3, CHAIN_UNKNOWN);
	scene_free(&scene);
}

static void code_that_cannot_be_read_adds_no_caller(void **state)
{
	struct scene scene = scene_new(&mode_4k);
	uint64_t end = CODE + 2 * GUEST_PAGE_SIZE;

	(void)state;
	put_frames(&scene, STACK + 0x200, 3, 64);
	scene.guest->cpu.pc = end - 4;
	memset(scene.guest->beyond, 0, sizeof(scene.guest->beyond));
	expect_chain(&scene, 3, CHAIN_UNKNOWN);
	put_code(&scene, end - 4, RET);
	unwind(&scene);
	assert_true(scene.chain.frameless);
	/* Across a page boundary. */
	scene.guest->cpu.pc = CODE + GUEST_PAGE_SIZE - 8;
	put_code(&scene, CODE + GUEST_PAGE_SIZE + 8, RET);
	unwind(&scene);
	assert_true(scene.chain.frameless);
	for (unsigned int i = 1; i < 4; i++) {
		scene.guest->cpu.pc = CODE + GUEST_PAGE_SIZE + 8 + i;
		expect_chain(&scene, 3, CHAIN_UNKNOWN);
	}
	scene.guest->cpu.pc = 0xdead000;
	expect_chain(&scene, 3, CHAIN_UNKNOWN);
	scene.guest->cpu.pc = 1ull << 50;
	expect_chain(&scene, 3, CHAIN_UNKNOWN);
	scene_free(&scene);
}

static void the_search_in_code_is_limited(void **state)
{
	struct scene scene = scene_new(&mode_4k);

	(void)state;
	put_frames(&scene, STACK + 0x200, 3, 64);
	/* Far from the return. */
	scene.guest->cpu.pc = CODE + 0x200;
	put_code(&scene, CODE + 0x200 + 255 * 4, RET);
	unwind(&scene);
	assert_true(scene.chain.frameless);
	scene.guest->cpu.pc -= 4;
	expect_chain(&scene, 3, CHAIN_UNKNOWN);
	/* Circular jumps, and jumps into missing pages. */
	scene.guest->cpu.pc = CODE + 0x300;
	put_code(&scene, CODE + 0x300, B | 0x10);
	put_code(&scene, CODE + 0x340, B | 0x3fffff0);
	expect_chain(&scene, 3, CHAIN_UNKNOWN);
	put_code(&scene, CODE + 0x340, B | 0x1ffffff);
	expect_chain(&scene, 3, CHAIN_UNKNOWN);
	scene_free(&scene);
}

static void a_caller_from_the_link_register_counts_for_the_depth(void **state)
{
	struct scene scene = scene_new(&mode_4k);

	(void)state;
	put_code(&scene, CODE + 0x10, RET);
	put_frames(&scene, STACK + 0x200, CHAIN_MAX - 2, 64);
	unwind(&scene);
	assert_true(scene.chain.frameless);
	assert_int_equal(scene.chain.count, CHAIN_MAX);
	assert_int_equal(scene.chain.end, CHAIN_UNKNOWN);
	assert_int_equal(scene.chain.address[CHAIN_MAX - 1], RETURN(CHAIN_MAX - 3));
	scene_free(&scene);
}

static void chains_are_read_with_the_mmu_off(void **state)
{
	struct scene scene = {
		.guest = guest_new(NULL),
		.chain.address = malloc(CHAIN_ROOM * sizeof(uint64_t)),
	};
	uint64_t words[] = {0x3010, RETURN(0), 0, RETURN(1)};

	(void)state;
	assert_non_null(scene.chain.address);
	scene.input.memory = scene.guest->memory;
	memcpy(scene.guest->page[3], words, sizeof(words));
	scene.guest->cpu.pc = 0x2000;
	scene.guest->cpu.x[29] = 0x3000;
	expect_chain(&scene, 2, CHAIN_UNKNOWN);
	scene_free(&scene);
}

/* Frames across page boundaries, with 5 table levels, and code in four places that
 * continues in the next page: no chain costs more. */
static void the_worst_chain_costs_a_bounded_number_of_pages(void **state)
{
	struct scene scene = scene_new(&mode_5_levels);
	struct guest *guest = scene.guest;
	uint64_t base = 0x10000000, code = 0x8000000;

	(void)state;
	for (unsigned int i = 0; i < CHAIN_MAX + UNWIND_DEEP_PAGES / 2 + 1; i++) {
		uint64_t frame = base + 2 * i * GUEST_PAGE_SIZE + GUEST_PAGE_SIZE - 8;

		/* The pages of all return addresses share one frame. */
		map_new(guest, frame - GUEST_PAGE_SIZE + 8);
		map(guest, frame + 8, guest->root + 8 * GUEST_PAGE_SIZE,
		    GUEST_PAGE_SHIFT);
		poke(&scene, frame, frame + 2 * GUEST_PAGE_SIZE);
		poke(&scene, frame + 8, 0x1234);
	}
	for (unsigned int i = 0; i < 5; i++, code += 4 * GUEST_PAGE_SIZE) {
		uint64_t next = code + GUEST_PAGE_SIZE;

		map_new(guest, code);
		map_new(guest, next);
		put_code(&scene, next - 4, NOP);
		put_code(&scene, next, B | (4 * GUEST_PAGE_SIZE - 4) / 4);
	}
	guest->cpu.pc = 0x8000000 + GUEST_PAGE_SIZE - 4;
	guest->cpu.x[29] = base + GUEST_PAGE_SIZE - 8;
	unwind(&scene);
	assert_int_equal(scene.chain.count, CHAIN_MAX);
	assert_int_equal(scene.chain.end, CHAIN_TOO_DEEP);
	assert_int_equal(guest->calls, ARM64_UNWIND_PAGES_MAX);
	scene_free(&scene);
}

static void random_guests_are_safe(void **state)
{
	unsigned int ends[CHAIN_ENDS] = {0}, deep = 0, frameless = 0;
	uint64_t seed = 64;

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		struct scene scene = scene_new(modes[round % COUNT_OF(modes)]);
		struct guest *guest = scene.guest;

		/* Words that are often frames or code, and sometimes random. */
		for (uint64_t at = STACK; at < STACK_END; at += 8) {
			uint64_t word = random_next(&seed), kind = word >> 60;

			if (kind < 13)
				word = at + 8 * (word % 64);
			else if (kind < 14)
				word = 0;
			else if (kind < 15)
				word = STACK + word % 0x41000;
			poke(&scene, at, word);
		}
		for (uint64_t at = CODE; at < CODE + GUEST_PAGE_SIZE; at += 4) {
			const struct function *function;

			function = &functions[random_next(&seed) % COUNT_OF(functions)];
			put_code(&scene, at,
				 random_next(&seed) % 4
					 ? function->code[random_next(&seed) % 8]
					 : (uint32_t)random_next(&seed));
		}
		if (round % 3 == 0)
			guest->missing[random_next(&seed) % 70] = true;
		for (unsigned int i = 0; i < 50; i++) {
			guest->cpu.pc = CODE + random_next(&seed) % GUEST_PAGE_SIZE;
			guest->cpu.pc &= ~(uint64_t)(i % 4 ? 3 : 0);
			guest->cpu.x[30] = random_next(&seed);
			guest->cpu.x[29] = STACK + random_next(&seed) % 0x4000;
			guest->cpu.x[29] &= ~(uint64_t)(i % 2 ? 0 : 7);
			unwind(&scene);
			ends[scene.chain.end]++;
			deep += scene.chain.count > 10;
			frameless += scene.chain.frameless;
		}
		scene_free(&scene);
	}
	assert_true(deep > 300);
	assert_true(frameless > 300);
	assert_true(ends[CHAIN_UNKNOWN] > 0);
	for (unsigned int end = CHAIN_TOO_DEEP; end < CHAIN_NOT_CALLED; end++)
		if (end != CHAIN_TOO_DEEP && end != CHAIN_NOT_READY)
			assert_true(ends[end] > 0);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_of_every_length_are_complete),
		cmocka_unit_test(frames_at_any_offset_in_a_page_are_read),
		cmocka_unit_test(a_chain_that_is_cut_has_a_reason),
		cmocka_unit_test(authentication_codes_are_removed_from_return_addresses),
		cmocka_unit_test(the_return_address_is_found_from_the_code),
		cmocka_unit_test(a_link_register_of_0_adds_no_caller),
		cmocka_unit_test(code_that_cannot_be_read_adds_no_caller),
		cmocka_unit_test(the_search_in_code_is_limited),
		cmocka_unit_test(a_caller_from_the_link_register_counts_for_the_depth),
		cmocka_unit_test(chains_are_read_with_the_mmu_off),
		cmocka_unit_test(the_worst_chain_costs_a_bounded_number_of_pages),
		cmocka_unit_test(random_guests_are_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

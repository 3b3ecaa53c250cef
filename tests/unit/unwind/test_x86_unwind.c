/* SPDX-License-Identifier: BSD-3-Clause */

/* x86 call chains: no caller skipped, no guest trusted, no endless walk. */

#include "tests/unit/unwind/test_deep.h"
#include "tests/unit/unwind/test_x86_scene.h"

static const struct mode *const modes[] = {&mode_32, &mode_32_pse, &mode_pae,
					   &mode_4_level, &mode_5_level};

static void chains_of_every_length_are_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct scene scene = scene_new(modes[i]);

		for (unsigned int count = 0; count < CHAIN_MAX; count++) {
			put_frames(&scene, STACK + 0x200, count, 64);
			expect_chain(&scene, count, CHAIN_UNKNOWN);
		}
		scene_free(&scene);
	}
}

static void deep_chains_keep_their_outermost_frames(void **state)
{
	uint64_t callers[CHAIN_STEPS];

	(void)state;
	for (unsigned int i = 0; i < CHAIN_STEPS; i++)
		callers[i] = RETURN(i);
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct scene scene = scene_new(modes[i]);

		for (unsigned int count = CHAIN_MAX; count < 3 * CHAIN_MAX; count++) {
			put_frames(&scene, STACK + 0x200, count, 16);
			unwind(&scene);
			assert_int_equal(scene.chain.end, CHAIN_UNKNOWN);
			expect_gap(&scene.chain, count, callers);
		}
		put_frames(&scene, STACK + 0x200, CHAIN_STEPS - 1, 16);
		unwind(&scene);
		assert_int_equal(scene.chain.end, CHAIN_UNKNOWN);
		expect_gap(&scene.chain, CHAIN_STEPS - 1, callers);
		scene_free(&scene);
	}
}

static void frames_beyond_the_depth_limit_are_not_followed(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct scene scene = scene_new(modes[i]);

		put_frames(&scene, STACK + 0x200, CHAIN_STEPS, 16);
		expect_chain(&scene, CHAIN_MAX - 1, CHAIN_TOO_DEEP);
		scene_free(&scene);
	}
}

/* The chain is cut, but its outermost frames are known. */
static void a_deep_chain_ends_where_it_is_cut(void **state)
{
	struct scene scene = scene_new(&mode_4_level);
	uint64_t callers[1000];

	(void)state;
	for (unsigned int i = 0; i < COUNT_OF(callers); i++)
		callers[i] = RETURN(i);
	put_frames(&scene, STACK + 0x200, COUNT_OF(callers), 32);
	poke(&scene, STACK + 0x200 + (COUNT_OF(callers) - 1) * 32, STACK_END + 8);
	unwind(&scene);
	assert_int_equal(scene.chain.end, CHAIN_NOT_PRESENT);
	expect_gap(&scene.chain, COUNT_OF(callers), callers);
	/* With exactly as many as are kept, nothing is left out. */
	put_frames(&scene, STACK + 0x200, CHAIN_MAX - 1, 32);
	poke(&scene, STACK + 0x200 + (CHAIN_MAX - 2) * 32, STACK_END + 8);
	expect_chain(&scene, CHAIN_MAX - 1, CHAIN_NOT_PRESENT);
	assert_false(chain_has_gap(&scene.chain));
	scene_free(&scene);
}

static void a_return_address_of_0_ends_a_complete_chain(void **state)
{
	struct scene scene = scene_new(&mode_4_level);

	(void)state;
	put_frames(&scene, STACK + 0x200, 10, 64);
	poke(&scene, STACK + 0x200 + 6 * 64 + 8, 0);
	expect_chain(&scene, 6, CHAIN_UNKNOWN);
	scene_free(&scene);
}

static void frames_at_any_offset_in_a_page_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct scene scene = scene_new(modes[i]);
		unsigned int word = scene.word;

		/* From across a page boundary to the middle of a page. */
		for (uint64_t offset = word; offset < 2048; offset += word * 37)
			for (unsigned int apart = 16; apart <= 4096; apart *= 2) {
				put_frames(&scene, STACK + GUEST_PAGE_SIZE - offset, 60,
					   apart);
				expect_chain(&scene, 60, CHAIN_UNKNOWN);
			}
		/* Each frame across a page boundary, the pages unordered. */
		for (unsigned int page = 0; page < 64; page += 2) {
			uint64_t low = STACK + page * GUEST_PAGE_SIZE;
			uint64_t high = low + GUEST_PAGE_SIZE;
			uint64_t frame = guest_byte(scene.guest, low) -
					 scene.guest->page[0];

			map(scene.guest, low,
			    (uint64_t)(guest_byte(scene.guest, high) -
				       scene.guest->page[0]) >>
				    GUEST_PAGE_SHIFT,
			    GUEST_PAGE_SHIFT);
			map(scene.guest, high, frame >> GUEST_PAGE_SHIFT,
			    GUEST_PAGE_SHIFT);
		}
		put_frames(&scene, STACK + GUEST_PAGE_SIZE - word, 63, GUEST_PAGE_SIZE);
		expect_chain(&scene, 63, CHAIN_UNKNOWN);
		scene_free(&scene);
	}
}

static void a_stack_on_a_large_page_is_read(void **state)
{
	struct scene scene = scene_new(&mode_4_level);
	struct guest *guest = scene.guest;
	uint64_t frames[] = {STACK + 0x40000000 + 0x3ff8, STACK + 0x40000000 + 0x5010};

	(void)state;
	/* 2 MiB of memory from frame 512 on, STACK's offset in it: frame 768. */
	map(guest, STACK + 0x40000000, 512, 21);
	memcpy(guest->page[768 + 3] + 0xff8, &frames[1], 8);
	memcpy(guest->page[768 + 4], &(uint64_t){RETURN(0)}, 8);
	memcpy(guest->page[768 + 5] + 0x18, &(uint64_t){RETURN(1)}, 8);
	guest->cpu.reg[X86_RBP] = frames[0];
	expect_chain(&scene, 2, CHAIN_UNKNOWN);
	scene_free(&scene);
}

static void a_remapped_stack_is_followed(void **state)
{
	struct scene scene = scene_new(&mode_4_level);
	uint64_t page = STACK + GUEST_PAGE_SIZE;

	(void)state;
	put_frames(&scene, page, 3, 0x40);
	expect_chain(&scene, 3, CHAIN_UNKNOWN);
	map_new(scene.guest, page);
	put_frames(&scene, page, 5, 0x80);
	expect_chain(&scene, 5, CHAIN_UNKNOWN);
	/* Another process: equal addresses, other tables. */
	scene.guest->cpu.cr3 = scene.guest->next++ << GUEST_PAGE_SHIFT;
	map_new(scene.guest, page);
	put_frames(&scene, page, 1, 0x40);
	expect_chain(&scene, 1, CHAIN_UNKNOWN);
	scene_free(&scene);
}

static void frames_that_are_not_further_up_end_the_chain(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		for (unsigned int back = 0; back < 5; back++) {
			struct scene scene = scene_new(modes[i]);
			uint64_t last = STACK + 0x200 + 9 * 64;

			/* To itself, to earlier frames, and to addresses without frames.
			 */
			put_frames(&scene, STACK + 0x200, 20, 64);
			poke(&scene, last, last - back * 64);
			expect_chain(&scene, 10, CHAIN_NOT_ASCENDING);
			poke(&scene, last, scene.word);
			expect_chain(&scene, 10, CHAIN_NOT_ASCENDING);
			scene_free(&scene);
		}
	}
}

static void an_unaligned_frame_ends_the_chain(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct scene scene = scene_new(modes[i]);
		uint64_t last = STACK + 0x200 + 3 * 64;

		put_frames(&scene, STACK + 0x200, 10, 64);
		for (unsigned int off = 1; off < scene.word; off++) {
			poke(&scene, last, last + 64 + off);
			expect_chain(&scene, 4, CHAIN_UNALIGNED);
		}
		/* The frame pointer is just a register when it is the first. */
		scene.guest->cpu.reg[X86_RBP] = STACK + 1;
		expect_chain(&scene, 0, CHAIN_UNALIGNED);
		scene_free(&scene);
	}
}

static void a_frame_that_cannot_be_read_cuts_the_chain(void **state)
{
	struct scene scene = scene_new(&mode_4_level);
	struct guest *guest = scene.guest;
	uint64_t frame = STACK + 0x200, last = frame + 4 * 64;

	(void)state;
	put_frames(&scene, frame, 10, 64);
	poke(&scene, last, STACK_END);
	expect_chain(&scene, 5, CHAIN_NOT_PRESENT);
	poke(&scene, last, 0x800000000000);
	expect_chain(&scene, 5, CHAIN_NOT_CANONICAL);
	/* The return address is at the end of the address space. */
	map_new(guest, 0x7ffffffff000);
	poke(&scene, last, 0x7ffffffffff8);
	expect_chain(&scene, 5, CHAIN_NOT_CANONICAL);
	/* A frame whose memory Xen refuses to map. */
	map(guest, STACK_END, FRAMES, GUEST_PAGE_SHIFT);
	poke(&scene, last, STACK_END);
	expect_chain(&scene, 5, CHAIN_NO_PAGE);
	/* And one of which only the return address can be read. */
	poke(&scene, last, STACK_END - 8);
	expect_chain(&scene, 5, CHAIN_NO_PAGE);
	guest->missing[guest->cpu.cr3 >> GUEST_PAGE_SHIFT] = true;
	expect_chain(&scene, 0, CHAIN_NO_PAGE);
	scene_free(&scene);
}

static void a_32_bit_frame_above_4_gib_is_invalid(void **state)
{
	struct scene scene = scene_new(&mode_pae);

	(void)state;
	scene.guest->cpu.reg[X86_RBP] = 0x100000000 | STACK;
	expect_chain(&scene, 0, CHAIN_NOT_CANONICAL);
	/* The return address would lie at 4 GiB. */
	map_new(scene.guest, 0xfffff000);
	scene.guest->cpu.reg[X86_RBP] = 0xfffffffc;
	expect_chain(&scene, 0, CHAIN_NOT_CANONICAL);
	scene_free(&scene);
}

/* A 64-bit kernel's 32-bit program: its tables, but words of 4 bytes. */
static void chains_of_32_bit_code_in_long_mode_are_complete(void **state)
{
	static const uint8_t make_frame[] = {0x55, 0x89,
					     0xe5}; /* push ebp; mov ebp, esp */
	struct scene scene = scene_new(&mode_4_level);
	struct x86_cpu *cpu = &scene.guest->cpu;

	(void)state;
	cpu->is_compat = true;
	scene.word = 4;
	put_frames(&scene, STACK + 0x204, 20, 12);
	expect_chain(&scene, 20, CHAIN_UNKNOWN);
	/* At its first instruction, a function's caller is on the stack. */
	memcpy(guest_byte(scene.guest, cpu->rip), make_frame, sizeof(make_frame));
	poke(&scene, cpu->reg[X86_RSP], RETURN(0));
	put_frames(&scene, STACK + 0x204, 20, 12);
	for (unsigned int i = 0; i < 20; i++)
		poke(&scene, STACK + 0x204 + i * 12 + 4, RETURN(i + 1));
	expect_chain(&scene, 21, CHAIN_UNKNOWN);
	assert_true(scene.chain.frameless);
	scene_free(&scene);
}

static void chains_are_read_without_paging(void **state)
{
	struct scene scene = {
		.guest = guest_new(NULL),
		.word = 4,
		.chain.address = malloc(CHAIN_ROOM * sizeof(uint64_t)),
	};
	uint32_t words[] = {0x3010, (uint32_t)RETURN(0), 0, 0, 0, (uint32_t)RETURN(1)};

	(void)state;
	assert_non_null(scene.chain.address);
	scene.input.memory = scene.guest->memory;
	scene.guest->cpu.cr0 = X86_CR0_PE;
	memcpy(scene.guest->page[3], words, sizeof(words));
	scene.guest->cpu.rip = 0x2000;
	scene.guest->cpu.reg[X86_RBP] = 0x3000;
	expect_chain(&scene, 2, CHAIN_UNKNOWN);
	assert_int_equal(scene.guest->calls, 2);
	scene_free(&scene);
}

static void code_in_real_mode_has_its_linear_address_only(void **state)
{
	struct scene scene = scene_new(&mode_pae);
	struct x86_cpu *cpu = &scene.guest->cpu;
	const uint64_t cr0 = cpu->cr0;

	(void)state;
	put_frames(&scene, STACK + 0x200, 5, 64);
	expect_chain(&scene, 5, CHAIN_UNKNOWN);
	cpu->cs = 0xf000;
	cpu->rip = 0xfff0;
	for (unsigned int i = 0; i < 2; i++) {
		cpu->cr0 = i ? cr0 : 0x10;
		cpu->rflags = i ? X86_FLAGS_VM : 0;
		x86_unwind(cpu, &scene.input, &scene.chain);
		assert_int_equal(scene.chain.end, CHAIN_REAL_MODE);
		assert_int_equal(scene.chain.count, 1);
		assert_int_equal(scene.chain.address[0], 0xffff0);
	}
	scene_free(&scene);
}

static void a_table_entry_of_all_ones_cuts_the_chain(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++)
		for (unsigned int level = 0; level < modes[i]->levels; level++) {
			struct scene scene = scene_new(modes[i]);
			uint64_t last = STACK + 0x200 + 9 * 64;
			uint64_t away = 3ull << modes[i]->shift[0];

			put_frames(&scene, STACK + 0x200, 10, 64);
			poke(&scene, last, away);
			set_entry(scene.guest, entry_of(scene.guest, away, level),
				  UINT64_MAX);
			expect_chain(&scene, 10, CHAIN_NO_PAGE);
			scene_free(&scene);
		}
}

static void random_guests_are_safe(void **state)
{
	unsigned int ends[CHAIN_ENDS] = {0}, deep = 0;
	uint64_t seed = 16;

	(void)state;
	for (unsigned int round = 0; round < 1000; round++) {
		const struct mode *mode = modes[round % COUNT_OF(modes)];
		struct scene scene = scene_new(mode);
		struct guest *guest = scene.guest;

		/* Words that are often frames or code, and sometimes random. */
		for (uint64_t at = STACK; at < STACK_END; at += scene.word) {
			uint64_t word = random_next(&seed), kind = word >> 60;

			if (kind < 13)
				word = at + scene.word * (word % 64);
			else if (kind < 14)
				word = 0;
			else if (kind < 15)
				word = STACK + word % 0x41000;
			poke(&scene, at, word);
		}
		for (uint64_t at = 0; at < GUEST_PAGE_SIZE; at++)
			*guest_byte(guest, CODE + at) = (uint8_t)random_next(&seed);
		if (round % 3 == 0)
			guest->missing[random_next(&seed) % 70] = true;
		for (unsigned int i = 0; i < 50; i++) {
			guest->cpu.rip = CODE + random_next(&seed) % GUEST_PAGE_SIZE;
			guest->cpu.reg[X86_RSP] = STACK + random_next(&seed) % 0x41000;
			guest->cpu.reg[X86_RBP] = STACK + random_next(&seed) % 0x4000;
			guest->cpu.reg[X86_RBP] &= ~(uint64_t)(i % 2 ? 0 : 7);
			unwind(&scene);
			ends[scene.chain.end]++;
			deep += scene.chain.count > 10;
		}
		scene_free(&scene);
	}
	assert_true(deep > 1000);
	assert_true(ends[CHAIN_UNKNOWN] > 0);
	for (unsigned int end = CHAIN_TOO_DEEP; end < CHAIN_NOT_CALLED; end++)
		if (end != CHAIN_TOO_DEEP && end != CHAIN_NOT_READY)
			assert_true(ends[end] > 0);
}

/* A copy of the stack is read instead of the memory, which has changed since. */
static void chains_of_a_copied_stack_are_complete(void **state)
{
	const unsigned int words = 512;
	struct scene scene = scene_new(&mode_4_level);
	uint64_t copy[512];
	struct unwind_stack stack = {STACK + 0x100, copy, words};

	(void)state;
	put_frames(&scene, STACK + 0x200, 20, 64);
	for (unsigned int i = 0; i < words; i++)
		memcpy(&copy[i], guest_byte(scene.guest, stack.start + 8 * i), 8);
	for (unsigned int i = 0; i < 20; i++)
		put_frame(&scene, STACK + 0x200 + 64 * i, STACK_END - 64, CODE + 1);
	scene.input.stack = &stack;
	expect_chain(&scene, 20, CHAIN_UNKNOWN);
	/* Where it ends, nothing else is read. */
	stack.count = (0x100 + 7 * 64) / 8 + 1;
	expect_chain(&scene, 7, CHAIN_NOT_CAPTURED);
	stack.count++;
	expect_chain(&scene, 8, CHAIN_NOT_CAPTURED);
	stack.count = 0;
	expect_chain(&scene, 0, CHAIN_NOT_CAPTURED);
	stack = (struct unwind_stack){STACK + 0x300, copy, words};
	expect_chain(&scene, 0, CHAIN_NOT_CAPTURED);
	scene_free(&scene);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_of_every_length_are_complete),
		cmocka_unit_test(deep_chains_keep_their_outermost_frames),
		cmocka_unit_test(frames_beyond_the_depth_limit_are_not_followed),
		cmocka_unit_test(a_deep_chain_ends_where_it_is_cut),
		cmocka_unit_test(a_return_address_of_0_ends_a_complete_chain),
		cmocka_unit_test(frames_at_any_offset_in_a_page_are_read),
		cmocka_unit_test(a_stack_on_a_large_page_is_read),
		cmocka_unit_test(a_remapped_stack_is_followed),
		cmocka_unit_test(frames_that_are_not_further_up_end_the_chain),
		cmocka_unit_test(an_unaligned_frame_ends_the_chain),
		cmocka_unit_test(a_frame_that_cannot_be_read_cuts_the_chain),
		cmocka_unit_test(a_32_bit_frame_above_4_gib_is_invalid),
		cmocka_unit_test(chains_of_32_bit_code_in_long_mode_are_complete),
		cmocka_unit_test(chains_are_read_without_paging),
		cmocka_unit_test(code_in_real_mode_has_its_linear_address_only),
		cmocka_unit_test(a_table_entry_of_all_ones_cuts_the_chain),
		cmocka_unit_test(chains_of_a_copied_stack_are_complete),
		cmocka_unit_test(random_guests_are_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

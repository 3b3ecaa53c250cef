/* SPDX-License-Identifier: BSD-3-Clause */

/* AArch32 call chains: frames of every kind, no caller skipped, no guest trusted. */

#include "tests/unit/unwind/test_deep.h"
#include "tests/unit/unwind/test_arm32.h"

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

static void chains_of_every_kind_and_length_are_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++)
		for (int layout = GCC; layout <= LAYOUTS; layout++) {
			bool is_thumb = layout == LAYOUTS;
			enum layout frames = is_thumb ? RECORD : (enum layout)layout;
			struct scene scene = scene_new(modes[i], is_thumb);

			for (unsigned int count = 0; count < CHAIN_MAX; count += 5) {
				put_frames(&scene, frames, STACK + 0x204, count, 64);
				expect_chain(&scene, count, CHAIN_UNKNOWN);
			}
			put_frames(&scene, frames, STACK + 0x204, CHAIN_MAX + 10, 64);
			/* In Thumb code, the budget for code ends the chain first. */
			if (!is_thumb)
				expect_deep(&scene, CHAIN_MAX + 10);
			scene_free(&scene);
		}
}

/* Nothing is mapped above the stack, and the outermost frame is its last: GCC's and APCS
 * frames have nothing above the frame pointer. */
static void the_outermost_frame_can_be_at_the_stacks_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++)
		for (int layout = GCC; layout < LAYOUTS; layout++) {
			struct scene scene = scene_new(modes[i], false);
			uint32_t last = STACK_END - (layout == RECORD ? 8 : 4);

			put_frames(&scene, layout, last - 9 * 64, 10, 64);
			expect_chain(&scene, 10, CHAIN_UNKNOWN);
			/* It ends with a return address of 0, as a start function's may.
			 */
			put_frame(&scene, layout, last, 0, 0);
			expect_chain(&scene, 9, CHAIN_UNKNOWN);
			scene_free(&scene);
		}
}

/* A record without a return address is not a GCC frame because of that. */
static void a_frame_record_beyond_the_stacks_end_cuts_the_chain(void **state)
{
	struct scene scene = scene_new(&mode_short, false);
	uint32_t last = STACK_END - 4;

	(void)state;
	put_frames(&scene, RECORD, last - 9 * 64, 9, 64);
	poke(&scene, last - 64, last);
	poke(&scene, last - 4, RETURN(30));
	poke(&scene, last, last - 64);
	expect_chain(&scene, 9, CHAIN_NOT_PRESENT);
	scene_free(&scene);
}

static void frames_at_any_offset_in_a_page_are_read(void **state)
{
	(void)state;
	for (int layout = GCC; layout < LAYOUTS; layout++) {
		struct scene scene = scene_new(&mode_short, false);

		for (uint32_t offset = 0; offset < 64; offset += 4) {
			put_frames(&scene, layout, STACK + GUEST_PAGE_SIZE - offset, 60,
				   4096);
			expect_chain(&scene, 60, CHAIN_UNKNOWN);
		}
		scene_free(&scene);
	}
}

/* The words around a frame may look like a frame of another kind. */
static void a_chain_can_have_several_kinds_of_frames(void **state)
{
	struct scene scene = scene_new(&mode_short, false);
	uint64_t seed = 32;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		uint32_t at = STACK + 0x404;

		for (uint32_t word = STACK; word < STACK + 0x2000; word += 4) {
			uint32_t bits = (uint32_t)random_next(&seed);

			/* Pointers into the stack, small numbers and return addresses. */
			poke(&scene, word,
			     bits % 4 == 0   ? word + (bits >> 20) * 4
			     : bits % 4 == 1 ? RETURN(bits >> 20)
					     : bits >> 24);
		}
		*frame_pointer(&scene) = at;
		for (unsigned int i = 0; i < 20; i++) {
			uint32_t next = at + 32 + (random_next(&seed) % 32) * 4;
			enum layout layout = random_next(&seed) % LAYOUTS;

			put_frame(&scene, layout, at, next, RETURN(i));
			/* GCC's and APCS frames allow nothing else for the word. */
			if (layout == RECORD)
				poke(&scene, at - 4, 7);
			at = next;
		}
		put_frame(&scene, GCC, at, 0, RETURN(20));
		expect_chain(&scene, 21, CHAIN_UNKNOWN);
	}
	scene_free(&scene);
}

/* The stack is just below the code: a return address could be a frame pointer. */
static void return_addresses_and_frames_are_told_apart_by_code(void **state)
{
	for (int layout = GCC; layout < APCS; layout++) {
		struct scene scene = scene_new(&mode_short, false);
		uint32_t stack = CODE - 4 * GUEST_PAGE_SIZE;

		(void)state;
		for (unsigned int i = 0; i < 4; i++)
			map_new(scene.guest, stack + i * GUEST_PAGE_SIZE);
		put_frames(&scene, layout, stack + 0x204, 10, 64);
		/* A local variable of each frame points into the stack. */
		for (unsigned int i = 0; layout == RECORD && i < 10; i++)
			poke(&scene, stack + 0x204 + i * 64 - 4, stack + 0x800);
		expect_chain(&scene, 10, CHAIN_UNKNOWN);
		scene_free(&scene);
	}
}

/* A record with what an APCS frame has below it: a pointer to the arguments above. */
static void variables_do_not_turn_a_record_into_an_apcs_frame(void **state)
{
	struct scene scene = scene_new(&mode_short, false);
	uint32_t at = STACK + 0x204;

	(void)state;
	put_frames(&scene, RECORD, at, 5, 64);
	for (uint32_t frame = at; frame < at + 5 * 64; frame += 64) {
		poke(&scene, frame - 4, RETURN(400));
		poke(&scene, frame - 8, frame + 8);
		poke(&scene, frame - 12, frame + 128);
	}
	expect_chain(&scene, 5, CHAIN_UNKNOWN);
	scene_free(&scene);
}

/* From the stack of an interrupt to that of the thread, far away and higher up. */
static void a_chain_continues_on_another_stack(void **state)
{
	(void)state;
	for (int layout = GCC; layout < APCS; layout++) {
		struct scene scene = scene_new(&mode_short, false);
		uint32_t other = 0xc0000000;

		map_new(scene.guest, other);
		put_frames(&scene, layout, STACK + 0x204, 5, 64);
		put_frame(&scene, layout, STACK + 0x204 + 4 * 64, other + 0x100,
			  RETURN(4));
		put_frame(&scene, layout, other + 0x100, 0, RETURN(5));
		expect_chain(&scene, 6, CHAIN_UNKNOWN);
		scene_free(&scene);
	}
}

static void a_chain_that_is_cut_has_a_reason(void **state)
{
	struct scene scene = scene_new(&mode_short, false);
	uint32_t last = STACK + 0x204 + 9 * 64;

	(void)state;
	put_frames(&scene, GCC, STACK + 0x204, 10, 64);
	poke(&scene, last - 4, last);
	expect_chain(&scene, 10, CHAIN_NOT_ASCENDING);
	poke(&scene, last - 4, STACK + 0x204);
	expect_chain(&scene, 10, CHAIN_NOT_ASCENDING);
	poke(&scene, last - 4, last + 6);
	expect_chain(&scene, 10, CHAIN_UNALIGNED);
	poke(&scene, last - 4, 0x12345000);
	expect_chain(&scene, 10, CHAIN_NOT_PRESENT);
	map(scene.guest, STACK_END, 0x40000000, GUEST_PAGE_SHIFT);
	poke(&scene, last - 4, STACK_END);
	expect_chain(&scene, 10, CHAIN_NO_PAGE);
	*frame_pointer(&scene) = 0xfffffffc;
	expect_chain(&scene, 0, CHAIN_NOT_PRESENT);
	*frame_pointer(&scene) = STACK + 0x203;
	expect_chain(&scene, 0, CHAIN_UNALIGNED);
	/* GCC's frame without the word below. */
	map_new(scene.guest, STACK_END + GUEST_PAGE_SIZE);
	poke(&scene, STACK_END + GUEST_PAGE_SIZE, RETURN(0));
	*frame_pointer(&scene) = STACK_END + GUEST_PAGE_SIZE;
	expect_chain(&scene, 1, CHAIN_NO_PAGE);
	*frame_pointer(&scene) = STACK;
	poke(&scene, STACK, RETURN(0));
	expect_chain(&scene, 1, CHAIN_NOT_PRESENT);
	/* A record at its stack's lower end. */
	put_frames(&scene, RECORD, STACK, 1, 64);
	expect_chain(&scene, 1, CHAIN_UNKNOWN);
	scene_free(&scene);
}

/* A leaf of one instruction set, called from the other: its frames are in r11, or r7. */
static void a_caller_of_the_other_instruction_set_is_followed(void **state)
{
	struct scene scene = scene_new(&mode_short, true);

	(void)state;
	for (uint32_t i = 0; i < GUEST_PAGE_SIZE; i += 4)
		poke(&scene, CALLS + i, BL);
	poke(&scene, CODE + 0x40, 0x4770);
	*link_register(&scene) = LINK;
	scene.guest->cpu.x[7] = 0x123;
	scene.is_thumb = false;
	put_frames(&scene, GCC, STACK + 0x204, 5, 64);
	unwind(&scene);
	assert_true(scene.chain.frameless);
	assert_int_equal(scene.chain.address[1], LINK);
	assert_int_equal(scene.chain.address[6], RETURN(4));
	assert_int_equal(scene.chain.end, CHAIN_UNKNOWN);
	scene_free(&scene);
}

/* Each mode has its own link register, and FIQ even its own frame pointer. */
static void registers_of_the_current_mode_are_used(void **state)
{
	static const struct {
		uint64_t mode;
		unsigned int sp, lr, fp;
	} banks[] = {
		{0x10, 13, 14, 11}, {0x11, 29, 30, 27}, {0x12, 17, 16, 11},
		{0x13, 19, 18, 11}, {0x17, 21, 20, 11}, {0x1b, 23, 22, 11},
		{0x1f, 13, 14, 11},
	};
	struct scene scene = scene_new(&mode_short, false);
	struct arm_cpu *cpu = &scene.guest->cpu;

	(void)state;
	put_frames(&scene, GCC, STACK + 0x204, 3, 64);
	poke(&scene, CODE + 0x40, 0xe12fff1e); /* bx lr */
	for (size_t i = 0; i < COUNT_OF(banks); i++) {
		struct register_value values[REGISTERS_MAX];

		for (unsigned int j = 0; j < ARM_REGISTERS; j++)
			cpu->x[j] = 0x1000 + j;
		cpu->cpsr = banks[i].mode;
		cpu->x[banks[i].lr] = LINK;
		cpu->x[banks[i].sp] = STACK + 0x100;
		cpu->x[banks[i].fp] = STACK + 0x204;
		unwind(&scene);
		assert_int_equal(scene.chain.count, 5);
		assert_int_equal(scene.chain.address[1], LINK);
		assert_int_equal(scene.chain.address[4], RETURN(2));
		assert_in_range(arm_registers(cpu, values), 17, REGISTERS_MAX);
		assert_string_equal(values[11].name, "r11");
		assert_int_equal(values[11].value, STACK + 0x204);
		assert_string_equal(values[13].name, "sp");
		assert_int_equal(values[13].value, STACK + 0x100);
		assert_string_equal(values[14].name, "lr");
		assert_int_equal(values[14].value, LINK);
		assert_string_equal(values[15].name, "pc");
		assert_int_equal(values[15].value, cpu->pc);
	}
	scene_free(&scene);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_of_every_kind_and_length_are_complete),
		cmocka_unit_test(the_outermost_frame_can_be_at_the_stacks_end),
		cmocka_unit_test(a_frame_record_beyond_the_stacks_end_cuts_the_chain),
		cmocka_unit_test(frames_at_any_offset_in_a_page_are_read),
		cmocka_unit_test(a_chain_can_have_several_kinds_of_frames),
		cmocka_unit_test(return_addresses_and_frames_are_told_apart_by_code),
		cmocka_unit_test(variables_do_not_turn_a_record_into_an_apcs_frame),
		cmocka_unit_test(a_chain_continues_on_another_stack),
		cmocka_unit_test(a_chain_that_is_cut_has_a_reason),
		cmocka_unit_test(a_caller_of_the_other_instruction_set_is_followed),
		cmocka_unit_test(registers_of_the_current_mode_are_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

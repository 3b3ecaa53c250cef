/* SPDX-License-Identifier: BSD-3-Clause */

/* Captured stacks: the words kept of them, and the chains they lead to. test_x86_table.c
 * unwinds the captured stacks of real code. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "tests/unit/unwind/test_x86_scene.h"
#include "unwind/stack/stack.h"

#define BYTES 4096
#define SP    (STACK + 0x400)

/* Number of words of 0 that are kept above the uppermost return address. */
#define ZEROS_MAX 16

/* A guest's data on its stack, which must not be in a recording. */
#define SECRET 0x7365637265742121ull

struct captured {
	struct scene scene;
	struct stack_copy copy;
	struct stack_filter *filter;
	uint64_t kept[STACK_CHAIN_MAX];
	struct chain chain;
};

static struct captured *captured_new(void)
{
	struct captured *captured = calloc(1, sizeof(*captured));

	assert_non_null(captured);
	captured->scene = scene_new(&mode_4_level);
	captured->scene.guest->cpu.reg[X86_RSP] = SP;
	captured->copy.word = calloc(STACK_WORDS(BYTES), sizeof(uint64_t));
	captured->filter = stack_filter_new();
	captured->chain.address = captured->kept;
	assert_non_null(captured->copy.word);
	assert_non_null(captured->filter);
	return captured;
}

static void captured_free(struct captured *captured)
{
	scene_free(&captured->scene);
	free(captured->copy.word);
	stack_filter_free(captured->filter);
	free(captured);
}

static void capture_at(struct captured *captured, uint64_t sp)
{
	const struct cpu cpu = {.family = CPU_FAMILY_X86,
				.x86 = captured->scene.guest->cpu};

	stack_copy(&cpu, &captured->scene.guest->memory, BYTES, &captured->copy);
	assert_true(captured->copy.is_taken);
	stack_keep(captured->filter, &cpu, &captured->scene.guest->memory,
		   &captured->copy, &captured->chain);
	assert_true(captured->chain.is_stack);
	assert_true(captured->chain.count >= STACK_REGISTERS);
	assert_true(captured->chain.count <= STACK_CHAIN_MAX);
	assert_int_equal(captured->kept[STACK_PC], captured->scene.guest->cpu.rip);
	assert_int_equal(captured->kept[STACK_SP], sp);
}

static void capture(struct captured *captured)
{
	capture_at(captured, SP);
}

/* The word that was kept of that address; -1 if none was. */
static uint64_t kept_at(const struct captured *captured, uint64_t address)
{
	const struct chain *chain = &captured->chain;
	uint64_t at = chain->count > STACK_REGISTERS ? chain->address[chain->count - 1]
						     : 0;

	for (uint32_t i = chain->count - 1; i-- > STACK_REGISTERS;) {
		at -= 8 * stack_word_distance(chain->address[i]);
		if (at == address)
			return stack_word_value(chain->address[i]);
	}
	return (uint64_t)-1;
}

static void unwind_captured(const struct captured *captured, struct chain *chain)
{
	struct stack_replay *replay = stack_replay_new();

	assert_non_null(replay);
	stack_unwind(replay, CPU_X86_64, captured->kept, captured->chain.count, NULL,
		     NULL, NULL, chain);
	stack_replay_free(replay);
}

static void only_pointers_to_code_and_stack_are_kept(void **state)
{
	struct captured *captured = captured_new();
	const uint64_t dropped[] = {SECRET,	   1,	   0x41414141,	CODE + 3,
				    STACK + 0x403, 0xffff, (uint64_t)-1};
	const uint64_t words[] = {RETURN(3), SP + 0x80, SP - STACK_RED_ZONE};

	(void)state;
	for (unsigned int i = 0; i < 7; i++)
		poke(&captured->scene, SP + i * 16, dropped[i]);
	for (unsigned int i = 0; i < 3; i++)
		poke(&captured->scene, SP + 0x200 + i * 24, words[i]);
	capture(captured);
	for (unsigned int i = 0; i < 7; i++)
		assert_int_equal(kept_at(captured, SP + i * 16), -1);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(kept_at(captured, SP + 0x200 + i * 24), words[i]);
	/* The frame pointer of an outermost frame. */
	assert_int_equal(kept_at(captured, SP + 0x1f8), 0);
	/* No other words are kept, but for zeros above the uppermost return address. */
	assert_int_equal(captured->chain.count, STACK_REGISTERS + 4 + ZEROS_MAX + 1);
	captured_free(captured);
}

/* A guest's memory without the page of the address @missing. */
struct partial {
	struct guest_memory all;
	uint64_t missing; /* number of the frame */
};

static const void *partial_page(void *context, uint64_t frame)
{
	struct partial *partial = context;

	return frame == partial->missing ? NULL
					 : partial->all.page(partial->all.context, frame);
}

/* A GDB stub's page is read only in the pause after the one in which it is missed. */
static void code_that_is_read_later_is_kept_then(void **state)
{
	struct captured *captured = captured_new();
	const struct guest_memory all = captured->scene.guest->memory;
	struct partial partial = {.all = all};

	(void)state;
	assert_int_equal(x86_translate(&captured->scene.guest->cpu, &all, RETURN(3),
				       &partial.missing),
			 TRANSLATED);
	captured->scene.guest->memory = (struct guest_memory){.page = partial_page,
							      .context = &partial};
	poke(&captured->scene, SP + 0x200, RETURN(3));
	capture(captured);
	assert_int_equal(kept_at(captured, SP + 0x200), -1);
	captured->scene.guest->memory = all;
	capture(captured);
	assert_int_equal(kept_at(captured, SP + 0x200), RETURN(3));
	captured_free(captured);
}

/* The outermost function's return address may be one. */
static void zeros_are_kept_above_the_uppermost_return_address(void **state)
{
	struct captured *captured = captured_new();

	(void)state;
	poke(&captured->scene, SP + 0x100, RETURN(1));
	poke(&captured->scene, SP + 0x200, RETURN(2));
	for (unsigned int i = 0; i < 50; i++)
		poke(&captured->scene, SP + 0x208 + i * 8, SECRET);
	capture(captured);
	assert_int_equal(kept_at(captured, SP + 0x108), -1);
	assert_int_equal(kept_at(captured, SP + 0x208), -1);
	for (unsigned int i = 50; i < 64; i++)
		assert_int_equal(kept_at(captured, SP + 0x208 + i * 8), 0);
	assert_int_equal(kept_at(captured, SP + 0x208 + 64 * 8), -1);
	captured_free(captured);
}

static void the_red_zone_is_kept(void **state)
{
	struct captured *captured = captured_new();

	(void)state;
	poke(&captured->scene, SP - STACK_RED_ZONE, RETURN(1));
	poke(&captured->scene, SP - STACK_RED_ZONE - 8, RETURN(2));
	capture(captured);
	assert_int_equal(kept_at(captured, SP - STACK_RED_ZONE), RETURN(1));
	assert_int_equal(kept_at(captured, SP - STACK_RED_ZONE - 8), -1);
	captured_free(captured);
}

/* The page below that of the stack pointer may never have been used. */
static void a_stack_is_kept_without_its_red_zone(void **state)
{
	struct captured *captured = captured_new();
	struct x86_cpu *cpu = &captured->scene.guest->cpu;
	const uint64_t page = SP & -(uint64_t)GUEST_PAGE_SIZE;

	(void)state;
	poke(&captured->scene, page + 0x108, RETURN(1));
	cpu->reg[X86_RSP] = page + 8;
	capture_at(captured, page + 8);
	assert_int_equal(captured->copy.start, page);
	assert_int_equal(kept_at(captured, page + 0x108), RETURN(1));
	captured_free(captured);
}

/* Code that was interrupted need not be behind a call. */
static void interrupted_code_is_kept(void **state)
{
	struct captured *captured = captured_new();
	const uint64_t frame[] = {CODE + 0x33, 0x10, 0x202, SP + 0x300, 0x18};

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		poke(&captured->scene, SP + 0x100 + 8 * i, frame[i]);
		/* An interrupt's words, but with flags that no CPU has. */
		poke(&captured->scene, SP + 0x200 + 8 * i, i == 2 ? 0x200 : frame[i]);
	}
	capture(captured);
	assert_int_equal(kept_at(captured, SP + 0x100), CODE + 0x33);
	assert_int_equal(kept_at(captured, SP + 0x118), SP + 0x300);
	assert_int_equal(kept_at(captured, SP + 0x108), -1);
	assert_int_equal(kept_at(captured, SP + 0x110), -1);
	assert_int_equal(kept_at(captured, SP + 0x200), -1);
	captured_free(captured);
}

/* Goroutines return to where nothing called from: after goexit's first instruction. */
static void the_end_of_a_goroutine_is_kept(void **state)
{
	struct captured *captured = captured_new();

	(void)state;
	*guest_byte(captured->scene.guest, CODE + 0x41) = 0xe8;
	*guest_byte(captured->scene.guest, CODE + 0x62) = 0xe8;
	poke(&captured->scene, SP + 0x80, CODE + 0x41);
	poke(&captured->scene, SP + 0x90, CODE + 0x62);
	poke(&captured->scene, SP + 0xa0, CODE + 0x81);
	capture(captured);
	assert_int_equal(kept_at(captured, SP + 0x80), CODE + 0x41);
	assert_int_equal(kept_at(captured, SP + 0x90), -1);
	assert_int_equal(kept_at(captured, SP + 0xa0), -1);
	captured_free(captured);
}

static void frame_pointers_are_followed_to_the_last(void **state)
{
	struct captured *captured = captured_new();
	uint64_t address[CHAIN_ROOM];
	struct chain chain = {.address = address};

	(void)state;
	put_frames(&captured->scene, SP + 0x20, 20, 0x60);
	capture(captured);
	unwind_captured(captured, &chain);
	assert_int_equal(chain.count, 21);
	assert_int_equal(chain.end, CHAIN_UNKNOWN);
	assert_false(chain.is_stack);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(address[1 + i], RETURN(i));
	captured_free(captured);
}

/* A chain that needs more of the stack than was captured says that it is cut. */
static void a_chain_ends_where_nothing_was_captured(void **state)
{
	struct captured *captured = captured_new();
	uint64_t address[CHAIN_ROOM];
	struct chain chain = {.address = address};

	(void)state;
	put_frames(&captured->scene, SP + 0x20, 20, 0x100);
	capture(captured);
	unwind_captured(captured, &chain);
	assert_int_equal(chain.end, CHAIN_NOT_CAPTURED);
	assert_in_range(chain.count, 15, 17);
	captured_free(captured);
}

static void no_stack_is_no_error(void **state)
{
	struct captured *captured = captured_new();
	uint64_t address[CHAIN_ROOM];
	struct chain chain = {.address = address};

	(void)state;
	captured->scene.guest->cpu.reg[X86_RSP] = 0x12345678;
	stack_copy(&(struct cpu){.x86 = captured->scene.guest->cpu},
		   &captured->scene.guest->memory, BYTES, &captured->copy);
	assert_true(captured->copy.is_taken);
	assert_int_equal(captured->copy.count, 0);
	stack_keep(captured->filter, &(struct cpu){.x86 = captured->scene.guest->cpu},
		   &captured->scene.guest->memory, &captured->copy, &captured->chain);
	assert_int_equal(captured->chain.count, STACK_REGISTERS);
	unwind_captured(captured, &chain);
	assert_int_equal(chain.count, 1);
	captured_free(captured);
}

static void a_full_stack_keeps_its_inner_words(void **state)
{
	struct captured *captured = captured_new();
	struct stack_copy *copy = &captured->copy;
	const struct cpu cpu = {.family = CPU_FAMILY_X86,
				.x86 = captured->scene.guest->cpu};

	(void)state;
	free(copy->word);
	copy->word = calloc(STACK_WORDS(STACK_BYTES_MAX), sizeof(uint64_t));
	assert_non_null(copy->word);
	for (uint64_t at = SP; at < STACK_END; at += 8)
		poke(&captured->scene, at, SP);
	stack_copy(&cpu, &captured->scene.guest->memory, STACK_BYTES_MAX, copy);
	stack_keep(captured->filter, &cpu, &captured->scene.guest->memory, copy,
		   &captured->chain);
	assert_in_range(captured->chain.count, STACK_CHAIN_MAX - 1, STACK_CHAIN_MAX);
	assert_int_equal(kept_at(captured, SP), SP);
	assert_int_equal(kept_at(captured, SP + 8 * 1000), SP);
	assert_int_equal(kept_at(captured, SP + 8 * 1020), -1);
	captured_free(captured);
}

static void values_and_distances_are_kept_apart(void **state)
{
	const uint64_t values[] = {0,
				   8,
				   0x7fffffffffff,
				   0x800000000000,
				   0xffff000000000000,
				   0xffff800000000000,
				   0xffffffffffffffff,
				   0x123456789abc};

	(void)state;
	for (unsigned int i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		for (uint64_t distance = 0; distance < 0x8000; distance += 257) {
			uint64_t word = stack_word(values[i], distance);

			assert_int_equal(stack_word_value(word), values[i]);
			assert_int_equal(stack_word_distance(word), distance);
		}
}

/* Unwinds chains of any contents; sanitizers see what goes wrong. */
static void hostile_stacks_end(void **state)
{
	struct stack_replay *replay = stack_replay_new();
	uint64_t captured[STACK_CHAIN_MAX], address[CHAIN_ROOM], seed = 1;
	struct chain chain = {.address = address};

	(void)state;
	assert_non_null(replay);
	for (unsigned int round = 0; round < 20000; round++) {
		uint32_t count = 1 +
				 random_next(&seed) % (round % 8 ? 30 : STACK_CHAIN_MAX);
		uint64_t base = random_next(&seed) & 0x7ffffffff000;

		for (uint32_t i = 0; i < count; i++)
			captured[i] = random_next(&seed) & 1
					      ? stack_word(base + (random_next(&seed) &
								   0xff8),
							   random_next(&seed) & 7)
					      : random_next(&seed);
		if (round & 1 && count > STACK_REGISTERS) {
			captured[STACK_SP] = base;
			captured[STACK_FP] = base + 16;
			captured[count - 1] = base + 0x1000;
		}
		stack_unwind(replay, round & 2 ? CPU_X86_64 : CPU_ARM64, captured, count,
			     NULL, NULL, NULL, &chain);
		assert_in_range(chain.count, 1, CHAIN_MAX);
		assert_true(chain.end < CHAIN_ENDS);
		assert_int_equal(chain.address[0], captured[0]);
	}
	stack_unwind(replay, CPU_X86_32, captured, STACK_REGISTERS + 2, NULL, NULL, NULL,
		     &chain);
	assert_int_equal(chain.count, 1);
	assert_int_equal(chain.end, CHAIN_NOT_CAPTURED);
	stack_unwind(replay, CPU_X86_64, captured, 0, NULL, NULL, NULL, &chain);
	assert_int_equal(chain.count, 0);
	stack_replay_free(replay);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_pointers_to_code_and_stack_are_kept),
		cmocka_unit_test(zeros_are_kept_above_the_uppermost_return_address),
		cmocka_unit_test(the_red_zone_is_kept),
		cmocka_unit_test(a_stack_is_kept_without_its_red_zone),
		cmocka_unit_test(interrupted_code_is_kept),
		cmocka_unit_test(the_end_of_a_goroutine_is_kept),
		cmocka_unit_test(frame_pointers_are_followed_to_the_last),
		cmocka_unit_test(a_chain_ends_where_nothing_was_captured),
		cmocka_unit_test(no_stack_is_no_error),
		cmocka_unit_test(code_that_is_read_later_is_kept_then),
		cmocka_unit_test(a_full_stack_keeps_its_inner_words),
		cmocka_unit_test(values_and_distances_are_kept_apart),
		cmocka_unit_test(hostile_stacks_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */

/* Captured stacks of AArch64 guests: the words kept of them, and the chains they lead to.
 * test_stack.c has what does not depend on the CPU. */

#include "tests/unit/unwind/test_arm64_scene.h"
#include "unwind/stack/stack.h"

#define BYTES 4096

/* A kernel where Linux's was before 5.4, in the lower half of the upper addresses. */
#define KERNEL 0xffff000008080000ull

static const struct mode mode_upper = {
	"4K, 48 bits, upper",
	CPSR_EL1,
	TCR_4K | TCR_SIZES(48, 48),
	LONG,
	4,
	{39, 30, 21, 12},
	{9, 9, 9, 9},
	KERNEL,
	true,
};

static uint64_t words[STACK_WORDS(BYTES)], kept[STACK_CHAIN_MAX], address[CHAIN_ROOM];

/* Captures the guest's stack, and returns the chain that this leads to. */
static struct chain capture(const struct scene *scene)
{
	const struct cpu cpu = {.family = CPU_FAMILY_ARM, .arm = scene->guest->cpu};
	struct stack_filter *filter = stack_filter_new();
	struct stack_replay *replay = stack_replay_new();
	struct stack_copy copy = {.word = words};
	struct chain stack = {.address = kept}, chain = {.address = address};

	assert_non_null(filter);
	assert_non_null(replay);
	stack_copy(&cpu, &scene->guest->memory, BYTES, &copy);
	assert_true(copy.is_taken);
	stack_keep(filter, &cpu, &scene->guest->memory, &copy, &stack);
	stack_unwind(replay, CPU_ARM64, kept, stack.count, NULL, NULL, NULL, &chain);
	stack_filter_free(filter);
	stack_replay_free(replay);
	return chain;
}

static void kernels_low_in_the_upper_half_are_kept(void **state)
{
	const uint64_t stack = KERNEL + GUEST_PAGE_SIZE;
	struct scene scene = {.guest = guest_new(&mode_upper)};
	struct arm_cpu *cpu = &scene.guest->cpu;
	struct chain chain;

	(void)state;
	map_new(scene.guest, KERNEL);
	map_new(scene.guest, stack);
	for (uint64_t at = KERNEL; at < stack; at += 4)
		put_code(&scene, at, BL);
	scene.input.memory = scene.guest->memory;
	cpu->pc = KERNEL + 0x10;
	cpu->sp_el1 = stack + 0x100;
	cpu->x[29] = stack + 0x140;
	poke(&scene, stack + 0x140, stack + 0x180);
	poke(&scene, stack + 0x148, KERNEL + 0x200);
	poke(&scene, stack + 0x180, 0);
	poke(&scene, stack + 0x188, KERNEL + 0x300);
	chain = capture(&scene);
	assert_int_equal(chain.count, 3);
	assert_int_equal(chain.address[0], KERNEL + 0x10);
	assert_int_equal(chain.address[1], KERNEL + 0x200);
	assert_int_equal(chain.address[2], KERNEL + 0x300);
	free(scene.guest);
}

/* Return addresses with codes of pointer authentication, as functions leave them. */
static void signed_return_addresses_are_kept(void **state)
{
	struct scene scene = scene_new(&mode_4k);
	struct arm_cpu *cpu = &scene.guest->cpu;
	const uint64_t code = 0x1234ull << 48;
	struct chain chain;

	(void)state;
	for (unsigned int i = 0; i < 2; i++)
		put_code(&scene, RETURN(i) - 4, BL);
	cpu->sp_el1 = STACK + 0x100;
	put_frames(&scene, STACK + 0x140, 2, 0x40);
	poke(&scene, STACK + 0x148, RETURN(0) | code);
	poke(&scene, STACK + 0x188, RETURN(1) | code);
	chain = capture(&scene);
	assert_int_equal(chain.count, 3);
	assert_int_equal(chain.address[1], RETURN(0));
	assert_int_equal(chain.address[2], RETURN(1));
	scene_free(&scene);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_low_in_the_upper_half_are_kept),
		cmocka_unit_test(signed_return_addresses_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

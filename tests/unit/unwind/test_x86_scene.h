/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_UNWIND_TEST_X86_SCENE_H
#define UNIPROF_TESTS_UNIT_UNWIND_TEST_X86_SCENE_H

/* Shared by the tests of x86 call chains: a guest with code and a stack. */

#include <stdbool.h>

#include "tests/unit/arch/test_x86.h"
#include "unwind/unwind.h"

#define CODE	  0x401000ull
#define STACK	  0x700000ull /* the lowest page of 64 */
#define STACK_END (STACK + 64 * GUEST_PAGE_SIZE)
#define RETURN(i) (CODE + 0x100 + (i)*8ull)
#define NOP	  0x90

/* A guest with a page of code, a stack, and a chain to fill. The code is nops, and calls
 * before all addresses that functions return to. */
struct scene {
	struct guest *guest;
	struct unwind_input input; /* has the guest's memory */
	unsigned int word;
	struct chain chain;
};

static inline struct scene scene_new(const struct mode *mode)
{
	static const uint8_t call[] = {0xe8, 0x00, 0x10, 0x00, 0x00};
	struct scene scene = {
		.guest = guest_new(mode),
		.word = mode->levels >= 4 ? 8 : 4,
		.chain.address = malloc(CHAIN_ROOM * sizeof(uint64_t)),
	};

	assert_non_null(scene.chain.address);
	scene.input.memory = scene.guest->memory;
	map_new(scene.guest, CODE);
	memset(guest_byte(scene.guest, CODE), NOP, GUEST_PAGE_SIZE);
	for (unsigned int i = 0; i < CHAIN_MAX; i++)
		memcpy(guest_byte(scene.guest, RETURN(i) - 5), call, sizeof(call));
	for (uint64_t page = STACK; page < STACK_END; page += GUEST_PAGE_SIZE)
		map_new(scene.guest, page);
	scene.guest->cpu.rip = CODE + 0x10;
	scene.guest->cpu.reg[X86_RSP] = STACK + 0x100;
	return scene;
}

static inline void scene_free(struct scene *scene)
{
	free(scene->guest);
	free(scene->chain.address);
}

static inline void poke(struct scene *scene, uint64_t address, uint64_t word)
{
	memcpy(guest_byte(scene->guest, address), &word, scene->word);
}

/* A frame at @address, called by the one at @next. */
static inline void put_frame(struct scene *scene, uint64_t address, uint64_t next,
			     uint64_t caller)
{
	poke(scene, address, next);
	poke(scene, address + scene->word, caller);
}

/* @count frames, @apart bytes apart; the outermost has no caller. */
static inline void put_frames(struct scene *scene, uint64_t address, unsigned int count,
			      unsigned int apart)
{
	scene->guest->cpu.reg[X86_RBP] = count ? address : 0;
	for (unsigned int i = 0; i < count; i++, address += apart)
		put_frame(scene, address, i + 1 < count ? address + apart : 0, RETURN(i));
}

static inline void unwind(struct scene *scene)
{
	scene->guest->calls = 0;
	memset(scene->chain.address, 0xaa, CHAIN_MAX * sizeof(uint64_t));
	x86_unwind(&scene->guest->cpu, &scene->input, &scene->chain);
	assert_true(scene->chain.count >= 1 && scene->chain.count <= CHAIN_MAX);
	assert_int_equal(scene->chain.address[0], scene->guest->cpu.rip);
	assert_true(scene->chain.end < CHAIN_ENDS);
	assert_true(scene->guest->calls <= X86_UNWIND_PAGES_MAX);
}

/* Checks that the chain is the sampled address and the first @count of put_frames(). */
static inline void expect_chain(struct scene *scene, unsigned int count,
				enum chain_end end)
{
	unwind(scene);
	assert_int_equal(scene->chain.end, end);
	assert_int_equal(scene->chain.count, 1 + count);
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(scene->chain.address[1 + i], RETURN(i));
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_UNWIND_TEST_ARM64_SCENE_H
#define UNIPROF_TESTS_UNIT_UNWIND_TEST_ARM64_SCENE_H

/* Shared by the tests of AArch64 call chains: a guest with code and a stack. */

#include "tests/unit/arch/test_arm.h"
#include "unwind/unwind.h"

#define CODE	  0x401000ull /* two pages */
#define STACK	  0x700000ull /* the lowest page of 64 */
#define STACK_END (STACK + 64 * GUEST_PAGE_SIZE)
#define LINK	  (CODE + 0x80) /* value of the link register */
#define RETURN(i) (CODE + 0x100 + (i)*8ull)

static const struct mode mode_4k = MODE("4K, 48 bits", EL1, TCR_4K | TCR_SIZES(48, 39),
					LONG, 0, CUT(39, 30, 21, 12), CUT(9, 9, 9, 9));
static const struct mode mode_5_levels = MODE(
	"4K, 52 bits", EL1, TCR_4K | TCR_SIZES(52, 39) | TCR_DS | TCR_52_BIT, LONG_DS, 0,
	CUT(48, 39, 30, 21, 12), CUT(4, 9, 9, 9, 9));

#define NOP 0xd503201f
#define RET 0xd65f03c0
#define BL  0x94000010
#define B   0x14000000 /* and how many words from here */

/* A guest with two pages of code full of nops, a stack, and a chain to fill. */
struct scene {
	struct guest *guest;
	struct unwind_input input; /* has the guest's memory */
	struct chain chain;
};

static inline void put_code(struct scene *scene, uint64_t address, uint32_t code)
{
	memcpy(guest_byte(scene->guest, address), &code, sizeof(code));
}

static inline struct scene scene_new(const struct mode *mode)
{
	struct scene scene = {
		.guest = guest_new(mode),
		.chain.address = malloc(CHAIN_ROOM * sizeof(uint64_t)),
	};
	uint64_t step = 1ull << granule_of(mode);

	assert_non_null(scene.chain.address);
	scene.input.memory = scene.guest->memory;
	for (uint64_t at = CODE & ~(step - 1); at < CODE + 2 * GUEST_PAGE_SIZE;
	     at += step)
		map_new(scene.guest, at);
	for (uint64_t at = STACK; at < STACK_END; at += step)
		map_new(scene.guest, at);
	for (uint64_t at = CODE; at < CODE + 2 * GUEST_PAGE_SIZE; at += 4)
		put_code(&scene, at, NOP);
	put_code(&scene, CODE + 0x40, BL);
	scene.guest->cpu.pc = CODE + 0x10;
	scene.guest->cpu.x[30] = LINK;
	return scene;
}

static inline void scene_free(struct scene *scene)
{
	free(scene->guest);
	free(scene->chain.address);
}

static inline void poke(struct scene *scene, uint64_t address, uint64_t word)
{
	memcpy(guest_byte(scene->guest, address), &word, sizeof(word));
}

/* @count frames, @apart bytes apart; the outermost has no caller. */
static inline void put_frames(struct scene *scene, uint64_t address, unsigned int count,
			      unsigned int apart)
{
	scene->guest->cpu.x[29] = count ? address : 0;
	for (unsigned int i = 0; i < count; i++, address += apart) {
		poke(scene, address, i + 1 < count ? address + apart : 0);
		poke(scene, address + 8, RETURN(i));
	}
}

#endif

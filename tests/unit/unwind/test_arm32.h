/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_UNWIND_TEST_ARM32_H
#define UNIPROF_TESTS_UNIT_UNWIND_TEST_ARM32_H

/* Shared by the tests of AArch32 call chains: a guest with code and a stack. */

#include "tests/unit/arch/test_arm.h"
#include "unwind/unwind.h"

#define CODE	  0x8000u /* functions; one page further, only calls */
#define CALLS	  (CODE + GUEST_PAGE_SIZE)
#define STACK	  0x700000u /* the lowest page of 64 */
#define STACK_END (STACK + 64 * GUEST_PAGE_SIZE)
#define LINK	  (CALLS + 0x800) /* value of the link register */
#define OWN	  (CALLS + 0xc00) /* return address of the sampled function, if different */
#define RETURN(i) (CALLS + 4 + ((i)&0x1ff) * 4u)

static const struct mode mode_short = MODE("short", SVC, 0, SHORT, 0, CUT(20, 12),
					   CUT(12, 8));
static const struct mode mode_lpae = MODE("LPAE", SVC, TTBCR_EAE, LONG, 0,
					  CUT(30, 21, 12), CUT(2, 9, 9));
static const struct mode mode_under_64 = MODE("32 bits under AArch64", USR,
					      TCR_4K | TCR_SIZES(48, 48), LONG, 0,
					      CUT(39, 30, 21, 12), CUT(9, 9, 9, 9));
static const struct mode *const modes[] = {&mode_short, &mode_lpae, &mode_under_64};

#define NOP 0xe320f000
#define BL  0xeb000010

enum layout {
	GCC,
	RECORD,
	APCS,
	LAYOUTS
};

/* A guest with code, a stack, and a chain to fill. */
struct scene {
	struct guest *guest;
	struct unwind_input input; /* has the guest's memory */
	bool is_thumb;
	struct chain chain;
};

static inline void poke(struct scene *scene, uint32_t address, uint32_t word)
{
	memcpy(guest_byte(scene->guest, address), &word, sizeof(word));
}

/* Writes Thumb code; returns the address after it. */
static inline uint32_t put_code(struct scene *scene, uint32_t at, const uint16_t *code,
				size_t count)
{
	for (size_t i = 0; i < count; i++, at += 2)
		memcpy(guest_byte(scene->guest, at), &code[i], 2);
	return at;
}

/* The place of the registers of the mode used (Arm ARM, section D1.20.1). */
static inline uint64_t *link_register(struct scene *scene)
{
	bool is_user = scene->guest->cpu.cpsr % 32 == CPSR_USR;

	return &scene->guest->cpu.x[is_user ? 14 : 18];
}

static inline uint64_t *stack_pointer(struct scene *scene)
{
	bool is_user = scene->guest->cpu.cpsr % 32 == CPSR_USR;

	return &scene->guest->cpu.x[is_user ? 13 : 19];
}

static inline uint64_t *frame_pointer(struct scene *scene)
{
	return &scene->guest->cpu.x[scene->is_thumb ? 7 : 11];
}

static inline struct scene scene_new(const struct mode *mode, bool is_thumb)
{
	struct scene scene = {
		.guest = guest_new(mode),
		.is_thumb = is_thumb,
		.chain.address = malloc(CHAIN_ROOM * sizeof(uint64_t)),
	};

	assert_non_null(scene.chain.address);
	scene.input.memory = scene.guest->memory;
	if (mode == &mode_under_64)
		scene.guest->cpu.sp_el1 = 0xffff000012340000;
	map_new(scene.guest, CODE);
	map_new(scene.guest, CALLS);
	for (uint32_t at = STACK; at < STACK_END; at += GUEST_PAGE_SIZE)
		map_new(scene.guest, at);
	for (uint32_t i = 0; i < GUEST_PAGE_SIZE; i += 4) {
		poke(&scene, CODE + i, is_thumb ? 0xbf00bf00 : NOP);
		poke(&scene, CALLS + i, is_thumb ? 0xf810f000 : BL);
	}
	poke(&scene, CODE + 0x100, is_thumb ? 0xf810f000 : BL);
	if (is_thumb)
		poke(&scene, CALLS - 4, 0x466fb580); /* push {r7, lr}; mov r7, sp */
	scene.guest->cpu.cpsr |= is_thumb ? ARM_CPSR_THUMB : 0;
	scene.guest->cpu.pc = CODE + 0x40;
	*link_register(&scene) = LINK | is_thumb;
	return scene;
}

static inline void scene_free(struct scene *scene)
{
	free(scene->guest);
	free(scene->chain.address);
}

static inline void put_frame(struct scene *scene, enum layout layout, uint32_t at,
			     uint32_t next, uint32_t caller)
{
	caller |= scene->is_thumb;
	switch (layout) {
	case GCC:
		poke(scene, at - 4, next);
		poke(scene, at, caller);
		break;
	case RECORD:
		poke(scene, at, next);
		poke(scene, at + 4, caller);
		break;
	default:
		poke(scene, at - 12, next);
		poke(scene, at - 8, at + 4);
		poke(scene, at - 4, caller);
		poke(scene, at, CODE + 0x48);
		break;
	}
}

/* @count frames, @apart bytes apart; the outermost has no caller. */
static inline void put_frames(struct scene *scene, enum layout layout, uint32_t address,
			      unsigned int count, unsigned int apart)
{
	*frame_pointer(scene) = count ? address : 0;
	for (unsigned int i = 0; i < count; i++, address += apart)
		put_frame(scene, layout, address, i + 1 < count ? address + apart : 0,
			  RETURN(i));
}

static inline void unwind(struct scene *scene)
{
	scene->guest->calls = 0;
	memset(scene->chain.address, 0xaa, CHAIN_MAX * sizeof(uint64_t));
	arm_unwind(&scene->guest->cpu, &scene->input, &scene->chain);
	assert_true(scene->chain.count >= 1 && scene->chain.count <= CHAIN_MAX);
	assert_int_equal(scene->chain.address[0], scene->guest->cpu.pc);
	assert_true(scene->chain.end < CHAIN_ENDS);
	assert_true(scene->guest->calls <= UNWIND_PAGES_MAX);
}

#endif

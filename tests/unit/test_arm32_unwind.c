/* SPDX-License-Identifier: BSD-3-Clause */

/* AArch32 call chains: frames of every kind, no caller left out, no guest believed. */

#include "tests/unit/test_arm.h"

#define CODE	  0x8000u /* functions; a page further, nothing but calls */
#define CALLS	  (CODE + GUEST_PAGE_SIZE)
#define STACK	  0x700000u /* the lowest page of 64 */
#define STACK_END (STACK + 64 * GUEST_PAGE_SIZE)
#define LINK	  (CALLS + 0x800) /* what the link register holds */
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
	bool is_thumb;
	struct chain chain;
};

static void poke(struct scene *scene, uint32_t address, uint32_t word)
{
	memcpy(guest_byte(scene->guest, address), &word, sizeof(word));
}

/* Where the registers of the mode that is used are (Arm ARM, section D1.20.1). */
static uint64_t *link_register(struct scene *scene)
{
	bool is_user = scene->guest->cpu.cpsr % 32 == CPSR_USR;

	return &scene->guest->cpu.x[is_user ? 14 : 18];
}

static uint64_t *frame_pointer(struct scene *scene)
{
	return &scene->guest->cpu.x[scene->is_thumb ? 7 : 11];
}

static struct scene scene_new(const struct mode *mode, bool is_thumb)
{
	struct scene scene = {
		.guest = guest_new(mode),
		.is_thumb = is_thumb,
		.chain.address = malloc(CHAIN_MAX * sizeof(uint64_t)),
	};

	assert_non_null(scene.chain.address);
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
	scene.guest->cpu.cpsr |= is_thumb ? ARM_CPSR_THUMB : 0;
	scene.guest->cpu.pc = CODE + 0x40;
	*link_register(&scene) = LINK | is_thumb;
	return scene;
}

static void scene_free(struct scene *scene)
{
	free(scene->guest);
	free(scene->chain.address);
}

static void put_frame(struct scene *scene, enum layout layout, uint32_t at, uint32_t next,
		      uint32_t caller)
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

/* @count frames, @apart bytes from each other; the outermost has no caller's. */
static void put_frames(struct scene *scene, enum layout layout, uint32_t address,
		       unsigned int count, unsigned int apart)
{
	*frame_pointer(scene) = count ? address : 0;
	for (unsigned int i = 0; i < count; i++, address += apart)
		put_frame(scene, layout, address, i + 1 < count ? address + apart : 0,
			  RETURN(i));
}

static void unwind(struct scene *scene)
{
	scene->guest->calls = 0;
	memset(scene->chain.address, 0xaa, CHAIN_MAX * sizeof(uint64_t));
	arm_unwind(&scene->guest->cpu, &scene->guest->memory, &scene->chain);
	assert_true(scene->chain.count >= 1 && scene->chain.count <= CHAIN_MAX);
	assert_int_equal(scene->chain.address[0], scene->guest->cpu.pc);
	assert_true(scene->chain.end < CHAIN_ENDS);
	assert_true(scene->guest->calls <= UNWIND_PAGES_MAX);
}

/* The chain has the sampled address, and the first @count of put_frames(). */
static void expect_chain(struct scene *scene, unsigned int count, enum chain_end end)
{
	unwind(scene);
	assert_false(scene->chain.frameless);
	assert_int_equal(scene->chain.end, end);
	assert_int_equal(scene->chain.count, 1 + count);
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(scene->chain.address[1 + i], RETURN(i));
}

static void chains_of_every_kind_and_length_are_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++)
		for (int layout = GCC; layout <= LAYOUTS; layout++) {
			bool is_thumb = layout == LAYOUTS;
			enum layout frames = is_thumb ? RECORD : (enum layout)layout;
			struct scene scene = scene_new(modes[i], is_thumb);

			for (unsigned int count = 0; count < CHAIN_MAX; count += 5) {
				put_frames(&scene, frames, STACK + 0x204, count, 64);
				expect_chain(&scene, count, CHAIN_WHOLE);
			}
			put_frames(&scene, frames, STACK + 0x204, CHAIN_MAX, 64);
			expect_chain(&scene, CHAIN_MAX - 1, CHAIN_TOO_DEEP);
			scene_free(&scene);
		}
}

static void frames_at_any_place_in_their_pages_are_read(void **state)
{
	(void)state;
	for (int layout = GCC; layout < LAYOUTS; layout++) {
		struct scene scene = scene_new(&mode_short, false);

		for (uint32_t offset = 0; offset < 64; offset += 4) {
			put_frames(&scene, layout, STACK + GUEST_PAGE_SIZE - offset, 60,
				   4096);
			expect_chain(&scene, 60, CHAIN_WHOLE);
		}
		scene_free(&scene);
	}
}

/* What lies around a frame may look like another kind's. */
static void frames_of_several_kinds_stand_in_one_chain(void **state)
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
			/* GCC's and APCS have nothing else for the word to be. */
			if (layout == RECORD)
				poke(&scene, at - 4, 7);
			at = next;
		}
		put_frame(&scene, GCC, at, 0, RETURN(20));
		expect_chain(&scene, 21, CHAIN_WHOLE);
	}
	scene_free(&scene);
}

/* The stack is just below the code: a return address could be a frame pointer. */
static void the_code_tells_a_return_address_from_a_frame(void **state)
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
		expect_chain(&scene, 10, CHAIN_WHOLE);
		scene_free(&scene);
	}
}

/* A record with what an APCS frame has below it: a pointer to the arguments above. */
static void a_record_is_no_apcs_frame_for_its_variables(void **state)
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
	expect_chain(&scene, 5, CHAIN_WHOLE);
	scene_free(&scene);
}

/* From an interrupt's stack to the thread's, far away and higher up. */
static void a_chain_goes_on_on_another_stack(void **state)
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
		expect_chain(&scene, 6, CHAIN_WHOLE);
		scene_free(&scene);
	}
}

static void a_chain_that_leads_nowhere_says_why(void **state)
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
	expect_chain(&scene, 1, CHAIN_WHOLE);
	scene_free(&scene);
}

/*
 * Functions as GCC 12 and clang 14 make them. For each instruction: L where the return
 * address is in the link register, and the frame pointer is the caller's; O where the
 * function has a frame of its own without it; F where the frame has it. A dot is the
 * second half of a Thumb instruction.
 */
struct function {
	const char *name, *states;
	uint32_t code[16];
	unsigned int
		slot; /* in O's frame, bytes from the frame pointer to the caller's */
};

static const struct function arm_functions[] = {
	/* push {fp}; add fp, sp, #0; mov; bne; add sp, fp, #0; pop {fp}; bx lr */
	{"GCC's leaf",
	 "LLOOOOL",
	 {0xe52db004, 0xe28db000, 0xe3a03000, 0x1afffffa, 0xe28bd000, 0xe49db004,
	  0xe12fff1e},
	 0},
	/* push {r4, fp}; add fp, sp, #4; nop; sub sp, fp, #4; pop {r4, fp}; bx lr */
	{"GCC's leaf that saves a register",
	 "LLOOOL",
	 {0xe92d0810, 0xe28db004, NOP, 0xe24bd004, 0xe8bd0810, 0xe12fff1e},
	 0},
	/* push {fp, lr}; add fp, sp, #4; bl; add; pop {fp, pc} */
	{"GCC's with calls",
	 "LLFFF",
	 {0xe92d4800, 0xe28db004, BL, 0xe2800001, 0xe8bd8800},
	 0},
	/* push {r0-r3}; push {fp, lr}; add fp; bl; pop {fp, lr}; add sp; bx lr */
	{"GCC's with variable arguments",
	 "LLLFFLL",
	 {0xe92d000f, 0xe92d4800, 0xe28db004, BL, 0xe8bd4800, 0xe28dd010, 0xe12fff1e},
	 0},
	/* push {fp, lr}; add fp; cmp; addls pc, pc, r0, lsl #2; mov; pop {fp, pc} */
	{"GCC's switch",
	 "LLFFFF",
	 {0xe92d4800, 0xe28db004, 0xe3500005, 0x908ff100, 0xe3a00006, 0xe8bd8800},
	 0},
	/* mov ip, sp; push {fp, ip, lr, pc}; sub fp, ip, #4; nop; ldm sp, {fp, sp, pc} */
	{"APCS's", "LLLFF", {0xe1a0c00d, 0xe92dd800, 0xe24cb004, NOP, 0xe89da800}, 0},
	/* mov; bxlt lr; push {fp, lr}; mov fp, sp; umull lr; pop {fp, lr}; bx lr */
	{"clang's",
	 "LLLLFFL",
	 {0xe3a00000, 0xb12fff1e, 0xe92d4800, 0xe1a0b00d, 0xe082e39e, 0xe8bd4800,
	  0xe12fff1e},
	 0},
	/* str lr, [sp, #-4]!; blx r3; ldr pc, [sp], #4 */
	{"without frame pointers", "LFF", {0xe52de004, 0xe12fff33, 0xe49df004}, 0},
	/* pop {fp}; b to a leaf, nop and mov pc, lr */
	{"with a call for its end", "OLLL", {0xe49db004, 0xea000000, NOP, 0xe1a0f00e}, 0},
	{"that goes where a register says", "FF", {NOP, 0xe12fff13}, 0}, /* bx r3 */
	{"that jumps by a table",
	 "FF",
	 {NOP, 0xe79ff100},
	 0},						  /* ldr pc, [pc, r0, lsl 2] */
	{"that calls Thumb", "FF", {NOP, 0xfa000010}, 0}, /* blx */
	{"that turns interrupts on",
	 "LLL", /* msr cpsr_c, r0; wfi; bx lr */
	 {0xe121f000, 0xe320f003, 0xe12fff1e},
	 0},
};

static const struct function thumb_functions[] = {
	/* push {r7}; sub sp, #20; add r7, sp, #0; str; b to ldr; adds r7, #20;
	 * mov sp, r7; ldr.w r7, [sp], #4; bx lr */
	{"GCC's leaf",
	 "LLLOOO",
	 {0xb480, 0xb085, 0xaf00, 0x6078, 0xe7ff, 0x3714, 0x46bd, 0xf85d, 0x7b04, 0x4770},
	 20},
	/* push {r4, r5, r7}; add r7, sp, #0; nop; mov sp, r7; pop {r4, r5, r7}; bx lr */
	{"GCC's leaf that saves registers",
	 "LLOOOL",
	 {0xb4b0, 0xaf00, 0xbf00, 0x46bd, 0xbcb0, 0x4770},
	 8},
	/* push {r7, lr}; mov r7, sp; bl; adds; pop {r7, pc} */
	{"clang's", "LLF.FF", {0xb580, 0x466f, 0xf000, 0xf810, 0x3001, 0xbd80}, 0},
	/* push {r4-r7, lr}; add r7, sp, #12; stmdb {r8}; nop; ldmia {r8}; pop */
	{"clang's that saves all",
	 "LLF.FF.F",
	 {0xb5f0, 0xaf03, 0xe92d, 0x0100, 0xbf00, 0xe8bd, 0x0100, 0xbdf0},
	 0},
	/* push.w {r3-r9, lr}; add.w r7, sp, #256; blx r3; ldmia.w {r3-r9, pc} */
	{"with wide instructions",
	 "L.L.FF.",
	 {0xe92d, 0x43f8, 0xf50d, 0x7780, 0x4798, 0xe8bd, 0x83f8},
	 0},
	/* cmp; it lt; bxlt lr; push {r7, lr}; mov r7, sp; ldmia.w {r7, lr}; bx lr */
	{"that makes its frame late",
	 "LLLLLF.L",
	 {0x2801, 0xbfb8, 0x4770, 0xb580, 0x466f, 0xe8bd, 0x4080, 0x4770},
	 0},
	/* nop; b.w to a leaf, nop and bx lr */
	{"with a far call for its end",
	 "LL.LL",
	 {0xbf00, 0xf000, 0xb800, 0xbf00, 0x4770},
	 0},
	{"that goes where a register says", "FF", {0xbf00, 0x4718}, 0}, /* bx r3 */
	{"that jumps by a table", "FF.L", {0xbf00, 0xe8df, 0xf000, 0x4770}, 0}, /* tbb */
	{"that traps", "FFL", {0xbf00, 0xde00, 0x4770}, 0},			/* udf */
};

static void put_function(struct scene *scene, uint32_t at,
			 const struct function *function)
{
	for (size_t i = 0; i < COUNT_OF(function->code); i++) {
		uint32_t code = function->code[i];

		if (scene->is_thumb)
			memcpy(guest_byte(scene->guest, at + 2 * (uint32_t)i), &code, 2);
		else
			poke(scene, at + 4 * (uint32_t)i, code ? code : NOP);
	}
}

static void expect_states(struct scene *scene, const struct function *function)
{
	enum layout layout = scene->is_thumb || strstr(function->name, "clang") ? RECORD
			     : strstr(function->name, "APCS")			? APCS
										: GCC;
	const uint32_t at = CODE + 0x200, own = STACK + 0x204, callers = STACK + 0x304;

	put_frames(scene, layout, callers, 3, 64);
	put_function(scene, at, function);
	poke(scene, own + function->slot, callers);
	for (unsigned int i = 0; function->states[i]; i++) {
		bool is_live = strchr("LO", function->states[i]);

		if (function->states[i] == '.')
			continue;
		scene->guest->cpu.pc = at + i * (scene->is_thumb ? 2 : 4);
		*frame_pointer(scene) = function->states[i] == 'O' ? own : callers;
		unwind(scene);
		if (scene->chain.frameless != is_live ||
		    scene->chain.count != 4u + is_live)
			fail_msg("%s, instruction %u", function->name, i);
		if (is_live)
			assert_int_equal(scene->chain.address[1], LINK);
		for (unsigned int j = 0; j < 3; j++)
			assert_int_equal(scene->chain.address[1 + is_live + j],
					 RETURN(j));
		assert_int_equal(scene->chain.end, CHAIN_WHOLE);
	}
}

static void the_code_tells_where_the_return_address_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct scene arm = scene_new(modes[i], false);
		struct scene thumb = scene_new(modes[i], true);

		for (size_t j = 0; j < COUNT_OF(arm_functions); j++)
			expect_states(&arm, &arm_functions[j]);
		for (size_t j = 0; j < COUNT_OF(thumb_functions); j++)
			expect_states(&thumb, &thumb_functions[j]);
		scene_free(&arm);
		scene_free(&thumb);
	}
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
	assert_int_equal(scene.chain.end, CHAIN_WHOLE);
	scene_free(&scene);
}

/* Each mode has a link register of its own, and FIQ's even a frame pointer. */
static void registers_are_those_of_the_mode(void **state)
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

static void guests_of_random_bits_are_survived(void **state)
{
	unsigned int ends[CHAIN_ENDS] = {0}, deep = 0, frameless = 0;
	uint64_t seed = 3;

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		bool is_thumb = round & 1;
		struct scene scene = scene_new(modes[round % COUNT_OF(modes)], is_thumb);
		struct guest *guest = scene.guest;

		/* Words that are often frames or code, and sometimes anything. */
		for (uint32_t at = STACK; at < STACK_END; at += 4) {
			uint32_t word = (uint32_t)random_next(&seed), kind = word >> 28;

			if (kind < 14 && at % 8)
				word = RETURN(word) | (uint32_t)is_thumb;
			else if (kind < 14)
				word = at + 4 * (word % 64);
			else if (kind < 15)
				word = 0;
			poke(&scene, at, word);
		}
		for (uint32_t at = CODE; at < CODE + GUEST_PAGE_SIZE - 64; at += 8)
			put_function(&scene, at,
				     is_thumb
					     ? &thumb_functions[random_next(&seed) %
								COUNT_OF(thumb_functions)]
					     : &arm_functions[random_next(&seed) %
							      COUNT_OF(arm_functions)]);
		for (unsigned int i = 0; i < 16; i++)
			poke(&scene, CODE + random_next(&seed) % 1024 * 4,
			     (uint32_t)random_next(&seed));
		if (round % 3 == 0)
			guest->missing[random_next(&seed) % 70] = true;
		for (unsigned int i = 0; i < 50; i++) {
			guest->cpu.pc = CODE + random_next(&seed) % GUEST_PAGE_SIZE;
			guest->cpu.pc &= is_thumb ? ~1ull : ~3ull;
			*link_register(&scene) = (uint32_t)random_next(&seed);
			*frame_pointer(&scene) = STACK + random_next(&seed) % 0x4000;
			*frame_pointer(&scene) &= ~(uint64_t)(i % 2 ? 0 : 3);
			unwind(&scene);
			ends[scene.chain.end]++;
			deep += scene.chain.count > 10;
			frameless += scene.chain.frameless;
		}
		scene_free(&scene);
	}
	assert_true(deep > 300);
	assert_true(frameless > 300);
	for (unsigned int end = 0; end < CHAIN_ENDS; end++)
		if (end != CHAIN_TOO_DEEP && end != CHAIN_NOT_READY &&
		    end != CHAIN_NOT_CANONICAL)
			assert_true(ends[end] > 0);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_of_every_kind_and_length_are_whole),
		cmocka_unit_test(frames_at_any_place_in_their_pages_are_read),
		cmocka_unit_test(frames_of_several_kinds_stand_in_one_chain),
		cmocka_unit_test(the_code_tells_a_return_address_from_a_frame),
		cmocka_unit_test(a_record_is_no_apcs_frame_for_its_variables),
		cmocka_unit_test(a_chain_goes_on_on_another_stack),
		cmocka_unit_test(a_chain_that_leads_nowhere_says_why),
		cmocka_unit_test(the_code_tells_where_the_return_address_is),
		cmocka_unit_test(a_caller_of_the_other_instruction_set_is_followed),
		cmocka_unit_test(registers_are_those_of_the_mode),
		cmocka_unit_test(guests_of_random_bits_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

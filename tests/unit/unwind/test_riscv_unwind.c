/* SPDX-License-Identifier: BSD-3-Clause */

/* RISC-V call chains: no caller skipped, no guest trusted, no endless walk. */

#include "tests/unit/arch/test_riscv.h"
#include "tests/unit/unwind/test_deep.h"
#include "unwind/unwind.h"

#define CODE	  0x401000ull /* two pages */
#define STACK	  0x700000ull /* the lowest page of 64 */
#define STACK_END (STACK + 64 * GUEST_PAGE_SIZE)
#define RA	  (CODE + 0x80)
#define SP	  (STACK + 0x100)
#define RETURN(i) (CODE + 0x100 + (i)*8ull)

#define NOP 0x00000013

static const struct mode *const modes[] = {&sv39, &sv48, &sv57};

/* A guest with two pages of code full of nops, a stack, and a chain to fill. */
struct scene {
	struct guest *guest;
	struct unwind_input input; /* has the guest's memory */
	struct chain chain;
};

static uint8_t *byte_at(struct guest *guest, uint64_t address)
{
	uint64_t frame = *entry_of(guest, address, guest->mode->levels - 1) >> 10;

	assert_true(frame && frame < FRAMES);
	return &guest->page[frame][address & (GUEST_PAGE_SIZE - 1)];
}

static void put_code(struct scene *scene, uint64_t address, uint32_t code)
{
	memcpy(byte_at(scene->guest, address), &code, 2);
	if ((code & 3) == 3) {
		code >>= 16;
		memcpy(byte_at(scene->guest, address + 2), &code, 2);
	}
}

static void poke(struct scene *scene, uint64_t address, uint64_t word)
{
	memcpy(byte_at(scene->guest, address), &word, sizeof(word));
}

static struct scene scene_new(const struct mode *mode)
{
	struct scene scene = {
		.guest = guest_new(mode),
		.chain.address = malloc(CHAIN_ROOM * sizeof(uint64_t)),
	};

	assert_non_null(scene.chain.address);
	scene.input.memory = scene.guest->memory;
	map_new(scene.guest, CODE);
	map_new(scene.guest, CODE + GUEST_PAGE_SIZE);
	for (uint64_t at = STACK; at < STACK_END; at += GUEST_PAGE_SIZE)
		map_new(scene.guest, at);
	for (uint64_t at = CODE; at < CODE + 2 * GUEST_PAGE_SIZE; at += 4)
		put_code(&scene, at, NOP);
	/* The sampled code makes a call. */
	put_code(&scene, CODE + 0x40, 0x000010ef); /* jal ra, .+0x1000 */
	scene.guest->cpu.pc = CODE + 0x10;
	scene.guest->cpu.x[RISCV_RA] = RA;
	scene.guest->cpu.x[RISCV_SP] = SP;
	return scene;
}

static void scene_free(struct scene *scene)
{
	free(scene->guest);
	free(scene->chain.address);
}

/* @count frames, @apart bytes apart, the first below @address; the outermost has no
 * caller. */
static void put_frames(struct scene *scene, uint64_t address, unsigned int count,
		       unsigned int apart)
{
	scene->guest->cpu.x[RISCV_FP] = count ? address : 0;
	for (unsigned int i = 0; i < count; i++, address += apart) {
		poke(scene, address - 16, i + 1 < count ? address + apart : 0);
		poke(scene, address - 8, RETURN(i));
	}
}

static void unwind(struct scene *scene)
{
	scene->guest->calls = 0;
	memset(scene->chain.address, 0xaa, CHAIN_MAX * sizeof(uint64_t));
	riscv_unwind(&scene->guest->cpu, &scene->input, &scene->chain);
	assert_true(scene->chain.count >= 1 && scene->chain.count <= CHAIN_MAX);
	assert_int_equal(scene->chain.address[0], scene->guest->cpu.pc);
	assert_true(scene->chain.end < CHAIN_ENDS);
	assert_true(scene->guest->calls <= RISCV_UNWIND_PAGES_MAX);
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

static void chains_of_every_length_are_complete(void **state)
{
	uint64_t callers[CHAIN_MAX + 10];

	(void)state;
	for (unsigned int i = 0; i < COUNT_OF(callers); i++)
		callers[i] = RETURN(i);
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct scene scene = scene_new(modes[i]);

		for (unsigned int count = 0; count < CHAIN_MAX; count++) {
			put_frames(&scene, STACK + 0x210, count, 64);
			expect_chain(&scene, count, CHAIN_UNKNOWN);
		}
		put_frames(&scene, STACK + 0x210, CHAIN_MAX + 10, 64);
		unwind(&scene);
		assert_int_equal(scene.chain.end, CHAIN_UNKNOWN);
		expect_gap(&scene.chain, CHAIN_MAX + 10, callers);
		put_frames(&scene, STACK + 0x210, 10, 64);
		poke(&scene, STACK + 0x210 + 6 * 64 - 8, 0);
		expect_chain(&scene, 6, CHAIN_UNKNOWN);
		scene_free(&scene);
	}
}

static void a_chain_that_is_cut_has_a_reason(void **state)
{
	struct scene scene = scene_new(&sv39);
	uint64_t last = STACK + 0x210 + 9 * 64;

	(void)state;
	put_frames(&scene, STACK + 0x210, 10, 64);
	poke(&scene, last - 16, last);
	expect_chain(&scene, 10, CHAIN_NOT_ASCENDING);
	poke(&scene, last - 16, STACK + 0x210);
	expect_chain(&scene, 10, CHAIN_NOT_ASCENDING);
	poke(&scene, last - 16, last + 4);
	expect_chain(&scene, 10, CHAIN_UNALIGNED);
	poke(&scene, last - 16, 0x12345000);
	expect_chain(&scene, 10, CHAIN_NOT_PRESENT);
	poke(&scene, last - 16, 1ull << 40);
	expect_chain(&scene, 10, CHAIN_NOT_CANONICAL);
	map(scene.guest, STACK_END, 0x400000000, 2);
	poke(&scene, last - 16, STACK_END + 16);
	expect_chain(&scene, 10, CHAIN_NO_PAGE);
	/* Below is the end of the address space. */
	scene.guest->cpu.x[RISCV_FP] = 8;
	expect_chain(&scene, 0, CHAIN_NOT_PRESENT);
	scene.guest->cpu.x[RISCV_FP] = STACK + 0x203;
	expect_chain(&scene, 0, CHAIN_UNALIGNED);
	scene_free(&scene);
}

/* Checks that the direct caller is in ra, and the rest the @count frames of
 * put_frames() from @first on. */
static void expect_from_ra(struct scene *scene, unsigned int first, unsigned int count)
{
	unwind(scene);
	assert_true(scene->chain.frameless);
	assert_int_equal(scene->chain.end, CHAIN_UNKNOWN);
	assert_int_equal(scene->chain.count, 2 + count - first);
	assert_int_equal(scene->chain.address[1], RA);
	for (unsigned int i = first; i < count; i++)
		assert_int_equal(scene->chain.address[2 + i - first], RETURN(i));
}

/* Writes the codes from @address on. */
static void put_codes(struct scene *scene, uint64_t address, const uint32_t *code,
		      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		put_code(scene, address, code[i]);
		address += (code[i] & 3) == 3 ? 4 : 2;
	}
}

/* Each function is sampled at its first instruction: before it saves ra, after it loaded
 * it again, or without a frame. */
static void callers_of_functions_without_a_frame_are_in_ra(void **state)
{
	static const uint32_t functions[][5] = {
		{0x8082},		  /* ret */
		{NOP, 0x00008067},	  /* nop; ret */
		{0xcb89, 0x8082},	  /* beqz a5, .+18; ret */
		{0x1141, 0xe406},	  /* addi sp, sp, -16; sd ra, 8(sp) */
		{0x00113423},		  /* sd ra, 8(sp) */
		{0x1141, 0xe422, 0x0800}, /* addi sp, sp, -16; sd s0, 8(sp) */
		{0x0800, 0x60a2},	  /* addi s0, sp, 16; ld ra, 8(sp) */
		{0x0141, 0x8082},	  /* addi sp, sp, 16; ret */
		{0xa011, 0x9782, 0x8082}, /* j .+4; jalr a5; ret */
	};
	struct scene scene = scene_new(&sv48);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		for (uint64_t at = CODE; at < CODE + 0x40; at += 4)
			put_code(&scene, at, NOP);
		put_codes(&scene, scene.guest->cpu.pc, functions[i],
			  COUNT_OF(functions[i]));
		put_frames(&scene, STACK + 0x210, 5, 64);
		expect_from_ra(&scene, 0, 5);
	}
	scene_free(&scene);
}

/* A leaf function with a frame, and the end of others: the caller's frame pointer is
 * where the code will load it from. */
static void callers_frame_pointers_are_where_the_code_loads_them(void **state)
{
	static const struct {
		uint32_t code[6];
		uint64_t at;
	} functions[] = {
		/* ld s0, 8(sp); addi sp, sp, 16; ret */
		{{0x6422, 0x0141, 0x8082}, SP + 8},
		/* addi sp, sp, 336; ld s0, 0(sp); ret */
		{{0x6171, 0x6402, 0x8082}, SP + 336},
		/* addi sp, s0, -32; ld s0, 8(sp); addi sp, sp, 16; ret */
		{{0xfe040113, 0x6422, 0x0141, 0x8082}, STACK + 0x400 - 32 + 8},
		/* nop; ld s0, -8(sp); j .+4; 0; ret */
		{{NOP, 0xff813403, 0xa011, 0x0000, 0x8082}, SP - 8},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		struct scene scene = scene_new(&sv39);

		put_codes(&scene, scene.guest->cpu.pc, functions[i].code,
			  COUNT_OF(functions[i].code));
		put_frames(&scene, STACK + 0x610, 5, 64);
		poke(&scene, functions[i].at, STACK + 0x610);
		scene.guest->cpu.x[RISCV_FP] = STACK + 0x400;
		expect_from_ra(&scene, 0, 5);
		scene_free(&scene);
	}
}

/* The frame is used, because ra is not known to be live. */
static void functions_that_have_saved_ra_have_a_frame(void **state)
{
	static const uint32_t functions[][4] = {
		{0x60a2, 0x8082},	  /* ld ra, 8(sp); ret */
		{0x9782, 0x8082},	  /* jalr a5; ret */
		{0x8302},		  /* jr t1 */
		{0x0000},		  /* not allowed */
		{0x9116, 0x6402, 0x8082}, /* add sp, sp, t0; ld s0, 0(sp); ret */
		{0x30200073},		  /* mret */
		{0xa001},		  /* j . */
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		struct scene scene = scene_new(&sv39);

		put_codes(&scene, scene.guest->cpu.pc, functions[i],
			  COUNT_OF(functions[i]));
		put_frames(&scene, STACK + 0x210, 5, 64);
		expect_chain(&scene, 5, CHAIN_UNKNOWN);
		scene_free(&scene);
	}
}

static void hostile_registers_and_code_end(void **state)
{
	struct scene scene = scene_new(&sv39);

	(void)state;
	put_frames(&scene, STACK + 0x210, 5, 64);
	scene.guest->cpu.pc = CODE + 0x11;
	expect_chain(&scene, 5, CHAIN_UNKNOWN);
	scene.guest->cpu.pc = 0x12345678;
	expect_chain(&scene, 5, CHAIN_UNKNOWN);
	/* An instruction of 32 bits, whose second half is not mapped. */
	scene.guest->cpu.pc = CODE + 2 * GUEST_PAGE_SIZE - 2;
	memcpy(byte_at(scene.guest, CODE + 2 * GUEST_PAGE_SIZE - 2), "\x13", 2);
	expect_chain(&scene, 5, CHAIN_UNKNOWN);
	/* A frame pointer to be loaded from nowhere, or from half a word. */
	scene.guest->cpu.pc = CODE + 0x10;
	put_code(&scene, CODE + 0x10, 0x6402); /* ld s0, 0(sp) */
	put_code(&scene, CODE + 0x12, 0x8082);
	scene.guest->cpu.x[RISCV_SP] = 0x12345000;
	expect_chain(&scene, 5, CHAIN_UNKNOWN);
	scene.guest->cpu.x[RISCV_SP] = SP + 4;
	expect_chain(&scene, 5, CHAIN_UNKNOWN);
	scene.guest->cpu.x[RISCV_SP] = 0;
	expect_chain(&scene, 5, CHAIN_UNKNOWN);
	scene.guest->cpu.x[RISCV_SP] = SP;
	scene.guest->cpu.x[RISCV_RA] = 0;
	expect_chain(&scene, 5, CHAIN_UNKNOWN);
	scene_free(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_of_every_length_are_complete),
		cmocka_unit_test(a_chain_that_is_cut_has_a_reason),
		cmocka_unit_test(callers_of_functions_without_a_frame_are_in_ra),
		cmocka_unit_test(callers_frame_pointers_are_where_the_code_loads_them),
		cmocka_unit_test(functions_that_have_saved_ra_have_a_frame),
		cmocka_unit_test(hostile_registers_and_code_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

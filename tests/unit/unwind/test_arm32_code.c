/* SPDX-License-Identifier: BSD-3-Clause */

/* AArch32 call chains: the return address as determined from the sampled code. */

#include "tests/unit/unwind/test_arm32.h"

/*
 * Functions as compiled by GCC 12 and clang 14. For each instruction, the place of the
 * return address: L in the link register, with the caller's frame pointer; O in the link
 * register, but the function has its own frame; S on the stack; N on the stack at an
 * unknown place, so that the function is skipped. A dot is the second half of a Thumb
 * instruction; a question mark, a frame that is set up but not filled yet.
 */
struct function {
	const char *name, *states;
	/* At each instruction, words (0 to 9, a to z) below the stack pointer that the
	 * function was called with; - where the frame pointer is still the caller's. */
	const char *sp, *fp;
	/* The places of the saved caller's frame pointer and return address, likewise. */
	unsigned int next, caller;
	uint32_t code[24];
};

static const struct function arm_functions[] = {
	/* push {fp}; add fp, sp, #0; mov; bne; add sp, fp, #0; pop {fp}; bx lr */
	{"GCC's leaf",
	 "LLOOOOL",
	 "0111110",
	 "--1111-",
	 1,
	 0,
	 {0xe52db004, 0xe28db000, 0xe3a03000, 0x1afffffa, 0xe28bd000, 0xe49db004,
	  0xe12fff1e}},
	/* push {r4, fp}; add fp, sp, #4; nop; sub sp, fp, #4; pop {r4, fp}; bx lr */
	{"GCC's leaf that saves a register",
	 "LLOOOL",
	 "022220",
	 "--111-",
	 1,
	 0,
	 {0xe92d0810, 0xe28db004, NOP, 0xe24bd004, 0xe8bd0810, 0xe12fff1e}},
	/* push {fp, lr}; add fp, sp, #4; bl; add; pop {fp, pc} */
	{"GCC's with calls",
	 "LLSSS",
	 "02222",
	 "--111",
	 2,
	 1,
	 {0xe92d4800, 0xe28db004, BL, 0xe2800001, 0xe8bd8800}},
	/* push {r0-r3}; push {fp, lr}; add fp, sp, #4; sub sp, sp, #112; bl;
	 * sub sp, fp, #4; pop {fp, lr}; add sp, sp, #16; bx lr */
	{"GCC's with variable arguments",
	 "LLLSSSSLL",
	 "0466yy640",
	 "---5555--",
	 6,
	 5,
	 {0xe92d000f, 0xe92d4800, 0xe28db004, 0xe24dd070, BL, 0xe24bd004, 0xe8bd4800,
	  0xe28dd010, 0xe12fff1e}},
	/* push {fp, lr}; add fp; cmp; addls pc, pc, r0, lsl #2; mov; pop {fp, pc} */
	{"GCC's switch",
	 "LLSSSS",
	 "022222",
	 "--1111",
	 2,
	 1,
	 {0xe92d4800, 0xe28db004, 0xe3500005, 0x908ff100, 0xe3a00006, 0xe8bd8800}},
	/* strd r4, [sp, #-16]!; str fp, [sp, #8]; add fp, sp, #12; str lr, [sp, #12]; bl;
	 * sub sp, fp, #12; ldrd r4, [sp]; ldr fp, [sp, #8]; add sp, sp, #12; pop {pc} */
	{"GCC's for Cortex-A15",
	 "LLL?SSSSSS",
	 "0444444441",
	 "---11111--",
	 2,
	 1,
	 {0xe16d41f0, 0xe58db008, 0xe28db00c, 0xe58de00c, BL, 0xe24bd00c, 0xe1cd40d0,
	  0xe59db008, 0xe28dd00c, 0xe49df004}},
	/* push {r4, fp, lr}; vpush {d8}; add fp, sp, #16; bl; sub sp, fp, #16;
	 * vpop {d8}; pop {r4, fp, pc} */
	{"GCC's with numbers",
	 "LLLSSSS",
	 "0355553",
	 "---1111",
	 2,
	 1,
	 {0xe92d4810, 0xed2d8b02, 0xe28db010, BL, 0xe24bd010, 0xecbd8b02, 0xe8bd8810}},
	/* mov ip, sp; push {fp, ip, lr, pc}; sub fp, ip, #4; nop; ldm sp, {fp, sp, pc} */
	{"APCS's",
	 "LLLSS",
	 "00444",
	 "---11",
	 4,
	 2,
	 {0xe1a0c00d, 0xe92dd800, 0xe24cb004, NOP, 0xe89da800}},
	/* mov; bxlt lr; push {fp, lr}; mov fp, sp; umull lr; pop {fp, lr}; bx lr */
	{"clang's",
	 "LLLLSSL",
	 "0000220",
	 "----22-",
	 2,
	 1,
	 {0xe3a00000, 0xb12fff1e, 0xe92d4800, 0xe1a0b00d, 0xe082e39e, 0xe8bd4800,
	  0xe12fff1e}},
	/* str lr, [sp, #-4]!; blx r3; ldr pc, [sp], #4 */
	{"without frame pointers",
	 "LNS",
	 "011",
	 "---",
	 0,
	 1,
	 {0xe52de004, 0xe12fff33, 0xe49df004}},
	/* push {r4, fp, lr}; sub sp, sp, #8; mov lr; ldr fp, [sp, #4]; add; pop */
	{"with all registers in use",
	 "LSSSSS",
	 "035553",
	 "------",
	 2,
	 1,
	 {0xe92d4810, 0xe24dd008, 0xe3a0e000, 0xe59db004, 0xe28dd008, 0xe8bd8810}},
	/* pop {fp}; b to a leaf, nop and mov pc, lr */
	{"with a call for its end",
	 "OLLL",
	 "1000",
	 "1---",
	 1,
	 0,
	 {0xe49db004, 0xea000000, NOP, 0xe1a0f00e}},
	/* bx r3 */
	{"that goes where a register says", "NN", "00", "--", 0, 0, {NOP, 0xe12fff13}},
	/* ldr pc, [pc, r0, lsl 2] */
	{"that jumps by a table", "NN", "00", "--", 0, 0, {NOP, 0xe79ff100}},
	/* blx */
	{"that calls Thumb", "NN", "00", "--", 0, 0, {NOP, 0xfa000010}},
	/* msr cpsr_c, r0; wfi; bx lr */
	{"that turns interrupts on",
	 "LLL",
	 "000",
	 "---",
	 0,
	 0,
	 {0xe121f000, 0xe320f003, 0xe12fff1e}},
	/* nop; ldmia r0, {r4, sp, lr}: another thread's; bx lr */
	{"that changes to another stack",
	 "NNL",
	 "000",
	 "---",
	 0,
	 0,
	 {NOP, 0xe8906010, 0xe12fff1e}},
	/* ldm sp, {r4, sp}; bx lr */
	{"that takes its stack pointer from the stack",
	 "NL",
	 "00",
	 "--",
	 0,
	 0,
	 {0xe89d2010, 0xe12fff1e}},
	/* ldr lr, [sp], #4; bx lr */
	{"that loads the return address",
	 "SL",
	 "10",
	 "--",
	 0,
	 1,
	 {0xe49de004, 0xe12fff1e}},
	/* ldrd r10, [sp], #8; bx lr */
	{"that loads two registers", "OL", "20", "1-", 1, 0, {0xe0cda0d8, 0xe12fff1e}},
	/* add sp, sp, r3; pop {pc} */
	{"with a stack pointer that nothing tells",
	 "N",
	 "1",
	 "-",
	 0,
	 0,
	 {0xe08dd003, 0xe49df004}},
};

static const struct function thumb_functions[] = {
	/* push {r7}; sub sp, #20; add r7, sp, #0; str; b to adds r7, #20; mov sp, r7;
	 * ldr.w r7, [sp], #4; bx lr */
	{"GCC's leaf",
	 "LLLOOOOO.L",
	 "01666661.0",
	 "---66611.-",
	 1,
	 0,
	 {0xb480, 0xb085, 0xaf00, 0x6078, 0xe7ff, 0x3714, 0x46bd, 0xf85d, 0x7b04,
	  0x4770}},
	/* push {r7}; sub sp, #20; add r7, sp, #0; str; b to str */
	{"GCC's leaf that never returns",
	 "LLLOO",
	 "01666",
	 "---66",
	 1,
	 0,
	 {0xb480, 0xb085, 0xaf00, 0x6078, 0xe7fd}},
	/* str.w r7, [sp, #-4]!; sub sp, #20; add r7, sp, #0; str; b to str */
	{"GCC's leaf for Cortex-A15 that never returns",
	 "L.LLOO",
	 "0.1666",
	 "-.--66",
	 1,
	 0,
	 {0xf84d, 0x7d04, 0xb085, 0xaf00, 0x6078, 0xe7fd}},
	/* push {r4, r5, r7}; add r7, sp, #0; nop; mov sp, r7; pop {r4, r5, r7}; bx lr */
	{"GCC's leaf that saves registers",
	 "LLOOOL",
	 "033330",
	 "--333-",
	 1,
	 0,
	 {0xb4b0, 0xaf00, 0xbf00, 0x46bd, 0xbcb0, 0x4770}},
	/* push {r4, r7, lr}; sub sp, #20; add r7, sp, #16; str r3, [sp, #8]; bl;
	 * adds r7, #4; add r0, r4; mov sp, r7; pop {r4, r7, pc} */
	{"GCC's with variables",
	 "LSSSS.SSSS",
	 "03888.8883",
	 "---44.4333",
	 2,
	 1,
	 {0xb590, 0xb085, 0xaf04, 0x9302, 0xf000, 0xf810, 0x3704, 0x4420, 0x46bd,
	  0xbd90}},
	/* push {r7, lr}; sub.w sp, sp, #112; sub sp, #8; add r7, sp, #0; bl;
	 * add.w r7, r7, #112; adds r7, #8; mov sp, r7; pop {r7, pc} */
	{"GCC's with many variables",
	 "LS.SSS.S.SSS",
	 "02.uww.w.ww2",
	 "--.--w.w.422",
	 2,
	 1,
	 {0xb580, 0xf1ad, 0x0d70, 0xb082, 0xaf00, 0xf000, 0xf810, 0xf107, 0x0770, 0x3708,
	  0x46bd, 0xbd80}},
	/* push.w {r4, r5, r7-r11, lr}; mov r8, r2; add r7, sp, #0; blx r3; mov r2, r10;
	 * ldmia.w sp!, {r4, r5, r7-r11, pc} */
	{"GCC's that saves all",
	 "L.SSSSS.",
	 "0.88888.",
	 "-.--888.",
	 6,
	 1,
	 {0xe92d, 0x4fb0, 0x4690, 0xaf00, 0x4798, 0x4652, 0xe8bd, 0x8fb0}},
	/* push {r4, r7, lr}; vpush {d8}; add r7, sp, #0; bl; mov sp, r7; vpop {d8}; pop
	 */
	{"GCC's with numbers",
	 "LS.SS.SS.S",
	 "03.55.55.3",
	 "--.-5.55.5",
	 2,
	 1,
	 {0xb590, 0xed2d, 0x8b02, 0xaf00, 0xf000, 0xf810, 0x46bd, 0xecbd, 0x8b02,
	  0xbd90}},
	/* push {r0-r3}; movs r1, #0; push {r7, lr}; sub sp, #8; add r7, sp, #0; bl;
	 * adds r7, #8; mov sp, r7; ldmia.w sp!, {r7, lr}; add sp, #16; bx lr */
	{"GCC's with variable arguments",
	 "LLLSSS.SSS.LL",
	 "044688.886.40",
	 "-----8.866.--",
	 6,
	 5,
	 {0xb40f, 0x2100, 0xb580, 0xb082, 0xaf00, 0xf000, 0xf810, 0x3708, 0x46bd, 0xe8bd,
	  0x4080, 0xb004, 0x4770}},
	/* push {r4, r5, r7, lr}; add r7, sp, #0; sub.w sp, sp, r3; mov r5, sp; bl;
	 * mov sp, r7; pop {r4, r5, r7, pc} */
	{"GCC's with alloca",
	 "LSS.SS.SS",
	 "044.kk.k4",
	 "--4.44.44",
	 2,
	 1,
	 {0xb5b0, 0xaf00, 0xebad, 0x0d03, 0x466d, 0xf000, 0xf810, 0x46bd, 0xbdb0}},
	/* push {r7, lr}; mov r1, r0; sub sp, #16; add r7, sp, #0; mov r4, r7; bl; b to
	   mov */
	/* push {r4, r5, r7, lr}; mov lr, r1; add r7, sp, #0; bl; pop {r4, r5, r7, pc} */
	{"GCC's that uses lr before it makes its frame",
	 "LSSS.S",
	 "0444.4",
	 "---4.4",
	 2,
	 1,
	 {0xb5b0, 0x468e, 0xaf00, 0xf000, 0xf810, 0xbdb0}},
	{"GCC's that never returns",
	 "LSSSSS.S",
	 "022666.6",
	 "----66.6",
	 2,
	 1,
	 {0xb580, 0x4601, 0xb084, 0xaf00, 0x463c, 0xf000, 0xf810, 0xe7fb}},
	/* str.w r4, [sp, #-20]!; strd r5, r6, [sp, #4]; strd r7, lr, [sp, #12]; sub sp,
	 * #20; add r7, sp, #0; bl; add.w r7, r7, #20; mov sp, r7; ldrd r4, r5, [sp]; ldrd
	 * r6, r7, [sp, #8]; add sp, #16; ldr.w pc, [sp], #4 */
	{"GCC's for Cortex-A15",
	 "L.L.L.SSS.S.SS.S.SS.",
	 "0.5.5.5aa.a.a5.5.51.",
	 "-.-.-.--a.a.55.5.--.",
	 2,
	 1,
	 {0xf84d, 0x4d14, 0xe9cd, 0x5601, 0xe9cd, 0x7e03, 0xb085,
	  0xaf00, 0xf000, 0xf810, 0xf107, 0x0714, 0x46bd, 0xe9dd,
	  0x4500, 0xe9dd, 0x6702, 0xb004, 0xf85d, 0xfb04}},
	/* strd r3, r4, [sp, #-16]!; strd r7, lr, [sp, #8]; add r7, sp, #0; bl; mov sp,
	 * r7; ldrd r3, r4, [sp]; ldrd r7, lr, [sp, #8]; add sp, #16; b.w to bx lr */
	{"GCC's for Cortex-A15, with a call for its end",
	 "L.L.SS.SS.S.LL.L",
	 "0.4.44.44.4.40.0",
	 "-.-.-4.44.4.--.-",
	 2,
	 1,
	 {0xe96d, 0x3404, 0xe9cd, 0x7e02, 0xaf00, 0xf000, 0xf810, 0x46bd, 0xe9dd, 0x3400,
	  0xe9dd, 0x7e02, 0xb004, 0xf000, 0xb800, 0x4770}},
	/* push {r7, lr}; mov r7, sp; bl; adds; pop {r7, pc} */
	{"clang's",
	 "LSS.SS",
	 "022.22",
	 "--2.22",
	 2,
	 1,
	 {0xb580, 0x466f, 0xf000, 0xf810, 0x3001, 0xbd80}},
	/* push {r4-r7, lr}; add r7, sp, #12; stmdb {r8}; nop; ldmia {r8}; pop */
	{"clang's that saves all",
	 "LSS.SS.S",
	 "055.66.5",
	 "--2.22.2",
	 2,
	 1,
	 {0xb5f0, 0xaf03, 0xe92d, 0x0100, 0xbf00, 0xe8bd, 0x0100, 0xbdf0}},
	/* cmp; it lt; bxlt lr; push {r7, lr}; mov r7, sp; ldmia.w {r7, lr}; bx lr */
	{"that makes its frame late",
	 "LLLLSS.L",
	 "000022.0",
	 "-----2.-",
	 2,
	 1,
	 {0x2801, 0xbfb8, 0x4770, 0xb580, 0x466f, 0xe8bd, 0x4080, 0x4770}},
	/* nop; b.w to a leaf, nop and bx lr */
	{"with a far call for its end",
	 "LL.LL",
	 "00.00",
	 "--.--",
	 0,
	 0,
	 {0xbf00, 0xf000, 0xb800, 0xbf00, 0x4770}},
	/* push {r4, lr}; blx r3; str.w lr, [sp]; add sp, #4; pop {pc} */
	{"without frame pointers",
	 "LNS.SS",
	 "022.21",
	 "---.--",
	 0,
	 1,
	 {0xb510, 0x4798, 0xf8cd, 0xe000, 0xb001, 0xbd00}},
	/* nop; bx r3 */
	{"that goes where a register says", "NN", "00", "--", 0, 0, {0xbf00, 0x4718}},
	/* nop; tbb; bx lr */
	{"that jumps by a table",
	 "NN.L",
	 "00.0",
	 "--.-",
	 0,
	 0,
	 {0xbf00, 0xe8df, 0xf000, 0x4770}},
	/* nop; udf; bx lr */
	{"that traps", "NNL", "000", "---", 0, 0, {0xbf00, 0xde00, 0x4770}},
	/* mov sp, r3; pop {r7, pc} */
	{"that changes to another stack", "NS", "02", "--", 2, 1, {0x469d, 0xbd80}},
	/* sub.w sp, r4, #16; pop {r7, pc} */
	{"that changes to a stack below a register",
	 "N.S",
	 "0.2",
	 "-.-",
	 2,
	 1,
	 {0xf1a4, 0x0d10, 0xbd80}},
	/* sub.w sp, sp, r3; pop {r7, pc} */
	{"with a stack pointer that nothing tells",
	 "N.S",
	 "0.2",
	 "-.-",
	 2,
	 1,
	 {0xebad, 0x0d03, 0xbd80}},
	/* ldr.w r4, [sp], #4; ldr.w lr, [sp], #4; bx lr */
	{"that loads one register after the other",
	 "S.S.L",
	 "2.1.0",
	 "-.-.-",
	 0,
	 1,
	 {0xf85d, 0x4b04, 0xf85d, 0xeb04, 0x4770}},
	/* ldr r7, [sp, #4]; ldr.w lr, [sp, #8]; mov r0, lr; add sp, #12; pop {r7, pc} */
	{"with all registers in use",
	 "SS.SSS",
	 "55.552",
	 "--.---",
	 2,
	 1,
	 {0x9f01, 0xf8dd, 0xe008, 0x4670, 0xb003, 0xbd80}},
	/* ldr.w lr, [sp, #8]; bx lr */
	{"that returns to what is on the stack",
	 "S.L",
	 "3.0",
	 "-.-",
	 0,
	 1,
	 {0xf8dd, 0xe008, 0x4770}},
	/* ldmia.w r0, {r4, lr}; bx lr */
	{"that takes another's registers",
	 "N.L",
	 "0.0",
	 "-.-",
	 0,
	 0,
	 {0xe890, 0x4010, 0x4770}},
};

static void put_function(struct scene *scene, uint32_t at,
			 const struct function *function)
{
	for (size_t i = 0; i < COUNT_OF(function->code); i++) {
		uint32_t code = function->code[i];

		if (scene->is_thumb)
			at = put_code(scene, at, &(uint16_t){(uint16_t)code}, 1);
		else
			poke(scene, at + 4 * (uint32_t)i, code ? code : NOP);
	}
}

/* The address @words below the stack pointer at the function entry; @callers for "-". */
static uint32_t below(uint32_t entry, char words, uint32_t callers)
{
	if (words == '-')
		return callers;
	return entry - 4 * (uint32_t)(words <= '9' ? words - '0' : words - 'a' + 10);
}

static void expect_states(struct scene *scene, const struct function *function)
{
	enum layout layout = scene->is_thumb || strstr(function->name, "clang") ? RECORD
			     : strstr(function->name, "APCS")			? APCS
										: GCC;
	const uint32_t at = CODE + 0x200, entry = STACK + 0x240, callers = STACK + 0x304;
	/* push {r7, lr}; sub sp, #20; add r7, sp, #0; bl; pop: not the function's. */
	static const uint16_t before[] = {0xb580, 0xb085, 0xaf00, 0xf000, 0xf810, 0xbd80};

	for (uint32_t word = STACK; word < callers + 256; word += 4)
		poke(scene, word, 0);
	if (scene->is_thumb)
		put_code(scene, CODE + 0x180, before, COUNT_OF(before));
	put_frames(scene, layout, callers, 3, 64);
	put_function(scene, at, function);
	poke(scene, entry - 4 * function->next, callers);
	poke(scene, entry - 4 * function->caller, OWN | scene->is_thumb);
	for (unsigned int i = 0; function->states[i]; i++) {
		char state = function->states[i];
		bool is_live = state == 'L' || state == 'O', is_told = state != 'N';

		if (strchr(".?", state))
			continue;
		scene->guest->cpu.pc = at + i * (scene->is_thumb ? 2 : 4);
		*stack_pointer(scene) = below(entry, function->sp[i], callers);
		*frame_pointer(scene) = below(entry, function->fp[i], callers);
		unwind(scene);
		if (scene->chain.frameless != is_live ||
		    scene->chain.count != 4u + is_told ||
		    (is_told && scene->chain.address[1] != (is_live ? LINK : OWN)))
			fail_msg("%s, instruction %u", function->name, i);
		for (unsigned int j = 0; j < 3; j++)
			assert_int_equal(scene->chain.address[1 + is_told + j],
					 RETURN(j));
		assert_int_equal(scene->chain.end, CHAIN_UNKNOWN);
	}
}

static void the_return_address_is_found_from_the_code(void **state)
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

static void random_guests_are_safe(void **state)
{
	unsigned int ends[CHAIN_ENDS] = {0}, deep = 0, frameless = 0;
	uint64_t seed = 3;

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		bool is_thumb = round & 1;
		struct scene scene = scene_new(modes[round % COUNT_OF(modes)], is_thumb);
		struct guest *guest = scene.guest;

		/* Words that are often frames or code, and sometimes random. */
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
			*stack_pointer(&scene) = STACK + random_next(&seed) % 0x4000 * 4;
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
		if (end != CHAIN_TOO_DEEP && end != CHAIN_NOT_READY &&
		    end != CHAIN_NOT_CANONICAL)
			assert_true(ends[end] > 0);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_return_address_is_found_from_the_code),
		cmocka_unit_test(random_guests_are_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

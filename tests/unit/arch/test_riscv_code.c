/* SPDX-License-Identifier: BSD-3-Clause */

/* What RISC-V instructions do with ra, s0 and sp. The codes were assembled by GNU as,
 * with and without compression, from the instructions beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arch/riscv/code.h"

static void instructions_are_classified(void **state)
{
	static const struct {
		uint32_t code;
		enum riscv_use use;
		int32_t value;
		unsigned int size;
	} known[] = {
		{0x8082, RISCV_RETURN, 0, 2},		/* ret */
		{0x8082, RISCV_RETURN, 0, 2},		/* jr ra */
		{0x00008067, RISCV_RETURN, 0, 4},	/* ret */
		{0x00408067, RISCV_ENDS, 0, 4},		/* jalr x0, 4(ra) */
		{0x8302, RISCV_ENDS, 0, 2},		/* jr t1 */
		{0x00030067, RISCV_ENDS, 0, 4},		/* jr t1 */
		{0x9782, RISCV_ENDS, 0, 2},		/* jalr a5 */
		{0x000780e7, RISCV_ENDS, 0, 4},		/* jalr a5 */
		{0x000010ef, RISCV_ENDS, 0, 4},		/* jal ra, .+0x1000 */
		{0x000012ef, RISCV_ENDS, 0, 4},		/* jal t0, .+0x1000 */
		{0x7ff7f06f, RISCV_JUMP, 524286, 4},	/* j .+0x7fffe */
		{0xfff7f06f, RISCV_JUMP, -524290, 4},	/* j .-0x80002 */
		{0x7ffff06f, RISCV_JUMP, 1048574, 4},	/* j .+0xffffe */
		{0x8000006f, RISCV_JUMP, -1048576, 4},	/* j .-0x100000 */
		{0x0010006f, RISCV_JUMP, 2048, 4},	/* j .+0x800 */
		{0xaffd, RISCV_JUMP, 2046, 2},		/* j .+2046 */
		{0xb001, RISCV_JUMP, -2048, 2},		/* j .-2048 */
		{0xaa91, RISCV_JUMP, 340, 2},		/* j .+0x154 */
		{0xb56d, RISCV_JUMP, -342, 2},		/* j .-0x156 */
		{0xe406, RISCV_SAVES, 0, 2},		/* sd ra, 8(sp) */
		{0x00113423, RISCV_SAVES, 0, 4},	/* sd ra, 8(sp) */
		{0xffa2, RISCV_SAVES, 0, 2},		/* sd s0, 504(sp) */
		{0xfe813c23, RISCV_SAVES, 0, 4},	/* sd s0, -8(sp) */
		{0xe426, RISCV_NOTHING, 0, 2},		/* sd s1, 8(sp) */
		{0x00913423, RISCV_NOTHING, 0, 4},	/* sd s1, 8(sp) */
		{0x00153423, RISCV_NOTHING, 0, 4},	/* sd ra, 8(a0) */
		{0x00112423, RISCV_NOTHING, 0, 4},	/* sw ra, 8(sp) */
		{0x0800, RISCV_SETS_FP, 0, 2},		/* addi s0, sp, 16 */
		{0x1fe0, RISCV_SETS_FP, 0, 2},		/* addi s0, sp, 1020 */
		{0x7f010413, RISCV_SETS_FP, 0, 4},	/* addi s0, sp, 2032 */
		{0x0804, RISCV_NOTHING, 0, 2},		/* addi s1, sp, 16 */
		{0x840a, RISCV_SETS_FP, 0, 2},		/* mv s0, sp */
		{0x6402, RISCV_LOADS_FP, 0, 2},		/* ld s0, 0(sp) */
		{0x6422, RISCV_LOADS_FP, 8, 2},		/* ld s0, 8(sp) */
		{0x747e, RISCV_LOADS_FP, 504, 2},	/* ld s0, 504(sp) */
		{0x644e, RISCV_LOADS_FP, 208, 2},	/* ld s0, 208(sp) */
		{0xff813403, RISCV_LOADS_FP, -8, 4},	/* ld s0, -8(sp) */
		{0x7f813403, RISCV_LOADS_FP, 2040, 4},	/* ld s0, 2040(sp) */
		{0x6500, RISCV_NOTHING, 0, 2},		/* ld s0, 8(a0) */
		{0x60a2, RISCV_ENDS, 0, 2},		/* ld ra, 8(sp) */
		{0x00813083, RISCV_ENDS, 0, 4},		/* ld ra, 8(sp) */
		{0x00853083, RISCV_ENDS, 0, 4},		/* ld ra, 8(a0) */
		{0x40a2, RISCV_ENDS, 0, 2},		/* lw ra, 8(sp) */
		{0x64a2, RISCV_NOTHING, 0, 2},		/* ld s1, 8(sp) */
		{0x1141, RISCV_MOVES_SP, -16, 2},	/* addi sp, sp, -16 */
		{0x0141, RISCV_MOVES_SP, 16, 2},	/* addi sp, sp, 16 */
		{0x617d, RISCV_MOVES_SP, 496, 2},	/* addi sp, sp, 496 */
		{0x7101, RISCV_MOVES_SP, -512, 2},	/* addi sp, sp, -512 */
		{0x6171, RISCV_MOVES_SP, 336, 2},	/* addi sp, sp, 336 */
		{0x80010113, RISCV_MOVES_SP, -2048, 4}, /* addi sp, sp, -2048 */
		{0xfe040113, RISCV_SP_BY_FP, -32, 4},	/* addi sp, s0, -32 */
		{0x8122, RISCV_SP_BY_FP, 0, 2},		/* mv sp, s0 */
		{0x812a, RISCV_LOSES_SP, 0, 2},		/* mv sp, a0 */
		{0x9116, RISCV_LOSES_SP, 0, 2},		/* add sp, sp, t0 */
		{0x00510133, RISCV_LOSES_SP, 0, 4},	/* add sp, sp, t0 */
		{0x00853103, RISCV_LOSES_SP, 0, 4},	/* ld sp, 8(a0) */
		{0x4095, RISCV_ENDS, 0, 2},		/* li ra, 5 */
		{0x80aa, RISCV_ENDS, 0, 2},		/* mv ra, a0 */
		{0x6095, RISCV_ENDS, 0, 2},		/* lui ra, 5 */
		{0x123450b7, RISCV_ENDS, 0, 4},		/* lui ra, 0x12345 */
		{0x00000097, RISCV_ENDS, 0, 4},		/* auipc ra, 0 */
		{0x90aa, RISCV_ENDS, 0, 2},		/* add ra, ra, a0 */
		{0x008e, RISCV_ENDS, 0, 2},		/* slli ra, ra, 3 */
		{0x00b540b3, RISCV_ENDS, 0, 4},		/* xor ra, a0, a1 */
		{0x141020f3, RISCV_ENDS, 0, 4},		/* csrr ra, sepc */
		{0x08a5b0af, RISCV_ENDS, 0, 4},		/* amoswap.d ra, a0, (a1) */
		{0xa2b520d3, RISCV_ENDS, 0, 4},		/* feq.d ra, fa0, fa1 */
		{0xc22570d3, RISCV_ENDS, 0, 4},		/* fcvt.l.d ra, fa0 */
		{0xe20500d3, RISCV_ENDS, 0, 4},		/* fmv.x.d ra, fa0 */
		{0x0220f0d3, RISCV_NOTHING, 0, 4},	/* fadd.d f1, f1, f2 */
		{0x00853087, RISCV_NOTHING, 0, 4},	/* fld f1, 8(a0) */
		{0xa406, RISCV_NOTHING, 0, 2},		/* fsd f1, 8(sp) */
		{0x223170c3, RISCV_NOTHING, 0, 4},	/* fmadd.d f1, f2, f3, f4 */
		{0x2422, RISCV_NOTHING, 0, 2},		/* fld fs0, 8(sp) */
		{0xc3a1, RISCV_NOTHING, 0, 2},		/* beqz a5, .+64 */
		{0x00f082e3, RISCV_NOTHING, 0, 4},	/* beq ra, a5, .+0x804 */
		{0x0ff0000f, RISCV_NOTHING, 0, 4},	/* fence */
		{0x00000073, RISCV_NOTHING, 0, 4},	/* ecall */
		{0x10500073, RISCV_NOTHING, 0, 4},	/* wfi */
		{0x12000073, RISCV_NOTHING, 0, 4},	/* sfence.vma */
		{0x9002, RISCV_ENDS, 0, 2},		/* ebreak */
		{0x00100073, RISCV_ENDS, 0, 4},		/* ebreak */
		{0x10200073, RISCV_ENDS, 0, 4},		/* sret */
		{0x30200073, RISCV_ENDS, 0, 4},		/* mret */
		{0x0000, RISCV_ENDS, 0, 2},		/* unimp */
		{0x0001, RISCV_NOTHING, 0, 2},		/* nop */
		{0x00000013, RISCV_NOTHING, 0, 4},	/* nop */
		{0x8506, RISCV_NOTHING, 0, 2},		/* mv a0, ra */
		{0x842a, RISCV_NOTHING, 0, 2},		/* mv s0, a0 */
		{0x457d, RISCV_NOTHING, 0, 2},		/* li a0, 31 */
		{0x2505, RISCV_NOTHING, 0, 2},		/* addiw a0, a0, 1 */
		{0x8d0d, RISCV_NOTHING, 0, 2},		/* sub a0, a0, a1 */
		{0x6588, RISCV_NOTHING, 0, 2},		/* ld a0, 8(a1) */
		{0x02c50533, RISCV_NOTHING, 0, 4},	/* mul a0, a0, a2 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct riscv_instruction found = riscv_use_of(known[i].code);

		if (found.use != known[i].use || found.value != known[i].value ||
		    found.size != known[i].size)
			fail_msg("0x%x: %d, %d, %u", known[i].code, (int)found.use,
				 found.value, found.size);
	}
}

/* The bytes behind a short instruction are no part of the instruction. */
static void short_instructions_have_16_bits(void **state)
{
	(void)state;
	for (uint32_t code = 0; code <= UINT16_MAX; code++) {
		struct riscv_instruction one = riscv_use_of(code);
		struct riscv_instruction other = riscv_use_of(code | 0xabcd0000);

		if (riscv_is_long(code))
			continue;
		assert_int_equal(one.size, 2);
		assert_int_equal(other.size, 2);
		assert_int_equal(one.use, other.use);
		assert_int_equal(one.value, other.value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_classified),
		cmocka_unit_test(short_instructions_have_16_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

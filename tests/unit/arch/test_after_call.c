/* SPDX-License-Identifier: BSD-3-Clause */

/* Which code before a return address ends with a call. The bytes were assembled by GNU as
 * from the instructions beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/after_call.h"

struct code {
	const char *bytes;
	size_t count;
};

#define CODE(bytes)                      \
	{                                \
		bytes, sizeof(bytes) - 1 \
	}

static bool ends_with_call(enum cpu_kind kind, const struct code *code, uint64_t address)
{
	const uint8_t *end = (const uint8_t *)code->bytes + code->count;

	return cpu_kind_is_after_call(kind, end, code->count, address);
}

static void x86_calls_are_recognized(void **state)
{
	static const struct code calls[] = {
		CODE("\xe8\x00\x10\x00\x00"),		  /* call rel32 */
		CODE("\xff\xd0"),			  /* call *%rax */
		CODE("\x41\xff\xd3"),			  /* call *%r11 */
		CODE("\xff\x10"),			  /* call *(%rax) */
		CODE("\xff\x14\xc8"),			  /* call *(%rax,%rcx,8) */
		CODE("\xff\x50\x18"),			  /* call *0x18(%rax) */
		CODE("\x41\xff\x54\x24\x18"),		  /* call *0x18(%r12) */
		CODE("\xff\x15\x10\x20\x00\x00"),	  /* call *0x2010(%rip) */
		CODE("\xff\x90\x00\x01\x00\x00"),	  /* call *0x100(%rax) */
		CODE("\x41\xff\x94\x24\x00\x01\x00\x00"), /* call *0x100(%r12) */
		CODE("\xff\x14\x25\x00\x10\x40\x00"),	  /* call *0x401000 */
		CODE("\xff\x14\xc5\x00\x10\x40\x00"),	  /* call *0x401000(,%rax,8) */
		CODE("\x2e\xe8\x00\x10\x00\x00"),	  /* cs call rel32 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!ends_with_call(CPU_X86_64, &calls[i], 0x1000) ||
		    !ends_with_call(CPU_X86_32, &calls[i], 0x1000) ||
		    ends_with_call(CPU_UNKNOWN, &calls[i], 0x1000))
			fail_msg("call %zu", i);
}

static void x86_calls_patched_by_linux_are_recognized(void **state)
{
	/* After call *%rax, or call *%r8, in the place of a call to a thunk. */
	static const struct code thunk = CODE("\x90\xe8\x12"),
				 longer = CODE("\xe8\x12\x34");
	/* After call rel32 in the place of call *pv_ops(%rip). */
	static const struct code pv = CODE("\xff\x15\x10\x20\x00");

	(void)state;
	assert_true(ends_with_call(CPU_X86_64, &thunk, 0x1000));
	assert_true(ends_with_call(CPU_X86_64, &longer, 0x1000));
	assert_true(ends_with_call(CPU_X86_64, &pv, 0x1000));
}

static void other_x86_code_is_not_a_call(void **state)
{
	static const struct code others[] = {
		CODE("\x90\x90\x90\x90\x90\x90\x90\x90"), /* nop */
		CODE("\xe9\x00\x10\x00\x00"),		  /* jmp rel32 */
		CODE("\xff\xe0"),			  /* jmp *%rax */
		CODE("\xff\x25\x10\x20\x00\x00"),	  /* jmp *0x2010(%rip) */
		CODE("\xff\xc0"),			  /* inc %eax */
		CODE("\xff\x70\x18"),			  /* push 0x18(%rax) */
		CODE("\xff\x50"),			  /* the start of a call */
		CODE("\xff\x14"),
		CODE("\xff\x54\x24"),
		CODE("\xe8\x00\x10\x00\x00\x90"), /* after a call and a nop */
		CODE("\xd0"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (ends_with_call(CPU_X86_64, &others[i], 0x1000))
			fail_msg("other %zu", i);
}

static void arm64_calls_are_recognized(void **state)
{
	static const struct code calls[] = {
		CODE("\x04\x00\x00\x94"), /* bl */
		CODE("\xff\xff\xff\x97"), /* bl, backwards */
		CODE("\x20\x00\x3f\xd6"), /* blr x1 */
		CODE("\x3f\x08\x3f\xd6"), /* blraaz x1 */
		CODE("\x22\x08\x3f\xd7"), /* blraa x1, x2 */
	};
	static const struct code others[] = {
		CODE("\x1f\x20\x03\xd5"), /* nop */
		CODE("\x04\x00\x00\x14"), /* b */
		CODE("\x20\x00\x1f\xd6"), /* br x1 */
		CODE("\xc0\x03\x5f\xd6"), /* ret */
		CODE("\x00\x00\x94"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!ends_with_call(CPU_ARM64, &calls[i], 0x1000))
			fail_msg("call %zu", i);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (ends_with_call(CPU_ARM64, &others[i], 0x1000))
			fail_msg("other %zu", i);
}

static void riscv_calls_are_recognized(void **state)
{
	static const struct code calls[] = {
		CODE("\xef\xf0\xff\xfe"), /* jal ra, backwards */
		CODE("\xef\x12\x00\x00"), /* jal t0 */
		CODE("\xe7\x80\x07\x00"), /* jalr a5 */
		CODE("\x82\x97"),	  /* c.jalr a5 */
		CODE("\x82\x90"),	  /* c.jalr ra */
	};
	static const struct code others[] = {
		CODE("\x13\x00\x00\x00"), /* nop */
		CODE("\x6f\x00\x10\x00"), /* j */
		CODE("\x67\x80\x00\x00"), /* ret */
		CODE("\x82\x80"),	  /* c.ret */
		CODE("\x02\x90"),	  /* c.ebreak */
		CODE("\x16\x91"),	  /* c.add sp, t0 */
		CODE("\xe7\x07\x00"),	  CODE("\x97"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!ends_with_call(CPU_RISCV64, &calls[i], 0x1000))
			fail_msg("call %zu", i);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (ends_with_call(CPU_RISCV64, &others[i], 0x1000))
			fail_msg("other %zu", i);
}

static void arm32_calls_are_recognized(void **state)
{
	static const struct code arm[] = {
		CODE("\xfe\xff\xff\xeb"),		  /* bl */
		CODE("\xfe\xff\xff\x0b"),		  /* bleq */
		CODE("\xfe\xff\xff\xfa"),		  /* blx, to Thumb */
		CODE("\x33\xff\x2f\xe1"),		  /* blx r3 */
		CODE("\x0f\xe0\xa0\xe1\x13\xff\x2f\xe1"), /* mov lr, pc; bx r3 */
		CODE("\x0f\xe0\xa0\xe1\x00\xf0\x93\xe5"), /* mov lr, pc; ldr pc, [r3] */
	};
	static const struct code thumb[] = {
		CODE("\xff\xf7\xfe\xff"), /* bl */
		CODE("\xff\xf7\xfe\xef"), /* blx, to ARM */
		CODE("\x98\x47"),	  /* blx r3 */
	};
	static const struct code others[] = {
		CODE("\x00\x00\xa0\xe1"), /* mov r0, r0 */
		CODE("\xfe\xff\xff\xea"), /* b */
		CODE("\x13\xff\x2f\xe1"), /* bx r3, nothing before it */
		CODE("\x70\x47"),	  /* bx lr of Thumb */
		CODE("\x00\xbf"),	  /* nop of Thumb */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(arm) / sizeof(*arm); i++)
		if (!ends_with_call(CPU_ARM32, &arm[i], 0x1000))
			fail_msg("ARM's call %zu", i);
	for (size_t i = 0; i < sizeof(thumb) / sizeof(*thumb); i++)
		if (!ends_with_call(CPU_ARM32, &thumb[i], 0x1002))
			fail_msg("Thumb's call %zu", i);
	/* ARM code is aligned. */
	assert_false(ends_with_call(CPU_ARM32, &arm[3], 0x1002));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (ends_with_call(CPU_ARM32, &others[i], 0x1000))
			fail_msg("other %zu", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_calls_are_recognized),
		cmocka_unit_test(x86_calls_patched_by_linux_are_recognized),
		cmocka_unit_test(other_x86_code_is_not_a_call),
		cmocka_unit_test(arm64_calls_are_recognized),
		cmocka_unit_test(riscv_calls_are_recognized),
		cmocka_unit_test(arm32_calls_are_recognized),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

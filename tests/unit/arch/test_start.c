/* SPDX-License-Identifier: BSD-3-Clause */
/* Code that starts a stack, and code that only looks like it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/start.h"
#include "base/random.h"

#define ADDRESS 0x401000ull

/* Code up to a return address, and from there on. */
struct sample {
	const char *before, *behind;
	size_t before_size, behind_size;
};

#define SAMPLE(before, behind)                                         \
	{                                                              \
		before, behind, sizeof(before) - 1, sizeof(behind) - 1 \
	}

static bool judge(const struct sample *sample, bool is_arm64)
{
	uint8_t code[START_BEFORE + START_BEHIND];

	memcpy(code, sample->before, sample->before_size);
	memcpy(code + sample->before_size, sample->behind, sample->behind_size);
	return code_is_start(is_arm64, code, sample->before_size + sample->behind_size,
			     sample->before_size, ADDRESS);
}

#define CALL "\xe8\x00\x10\x00\x00"

static void x86_starts_clear_rbp_and_never_return(void **state)
{
	static const struct sample starts[] = {
		/* xor %ebp,%ebp; call; 1: jmp 1b */
		SAMPLE("\x31\xed" CALL, "\xeb\xfe"),
		/* xor %rbp,%rbp; mov %rsp,%rdi; and $-16,%rsp; call; 1: hlt; jmp 1b */
		SAMPLE("\x48\x31\xed\x48\x89\xe7\x48\x83\xe4\xf0" CALL, "\xf4\xeb\xfd"),
		/* ... call *%rax; mov %eax,%edi; call; ud2 */
		SAMPLE("\x31\xed\xff\xd0", "\x89\xc7" CALL "\x0f\x0b"),
		/* 1: xor %ebp,%ebp; call; jmp 1b, without the xor */
		SAMPLE("\x31\xed" CALL, "\xeb\xf9"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		assert_true(judge(&starts[i], false));
}

static void x86_functions_that_use_rbp_are_no_starts(void **state)
{
	static const struct sample others[] = {
		/* rbp is never cleared. */
		SAMPLE("\x90\x90" CALL, "\xeb\xfe"),
		/* xor %ebp,%ebp; call; pop %rbp; ret */
		SAMPLE("\x31\xed" CALL, "\x5d\xc3"),
		/* A counter: xor %ebp,%ebp; 1: call; inc %ebp; jmp 1b */
		SAMPLE("\x31\xed" CALL, "\xff\xc5\xeb\xf7"),
		/* xor %ebp,%ebp; mov %rsp,%rbp; call; 1: jmp 1b */
		SAMPLE("\x31\xed\x48\x89\xe5" CALL, "\xeb\xfe"),
		/* xor %ebp,%ebp; ret; call; 1: jmp 1b */
		SAMPLE("\x31\xed\xc3" CALL, "\xeb\xfe"),
		/* xor %ebp,%ebp; call; test %eax,%eax; je elsewhere; hlt */
		SAMPLE("\x31\xed" CALL, "\x85\xc0\x74\x10\xf4"),
		/* No call: an interrupted instruction. */
		SAMPLE("\x31\xed\x90", "\xeb\xfe"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(judge(&others[i], false));
}

static void arm64_starts_clear_x29_and_never_return(void **state)
{
	static const struct sample starts[] = {
		/* mov x29, xzr; bl; b . */
		SAMPLE("\xfd\x03\x1f\xaa\x10\x00\x00\x94", "\x00\x00\x00\x14"),
		/* mov x29, #0; mov x30, #0; blr x1; brk #0 */
		SAMPLE("\x1d\x00\x80\xd2\x1e\x00\x80\xd2\x20\x00\x3f\xd6",
		       "\x00\x00\x20\xd4"),
	};
	static const struct sample others[] = {
		/* bl; b . */
		SAMPLE("\x1f\x20\x03\xd5\x10\x00\x00\x94", "\x00\x00\x00\x14"),
		/* mov x29, xzr; bl; ret */
		SAMPLE("\xfd\x03\x1f\xaa\x10\x00\x00\x94", "\xc0\x03\x5f\xd6"),
		/* mov x29, xzr; mov x29, sp; bl; b . */
		SAMPLE("\xfd\x03\x1f\xaa\xfd\x03\x00\x91\x10\x00\x00\x94",
		       "\x00\x00\x00\x14"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		assert_true(judge(&starts[i], true));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(judge(&others[i], true));
}

/* With sanitizers, this fails if code is read beyond its ends. */
static void any_code_is_judged(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (unsigned int round = 0; round < 100000; round++) {
		uint8_t code[START_BEFORE + START_BEHIND];
		size_t size = random_next(&seed) % sizeof(code) + 1;
		size_t at = random_next(&seed) % (size + 1);

		for (size_t i = 0; i < size; i++)
			code[i] = (uint8_t)random_next(&seed);
		if (at >= 2 && round % 2)
			memcpy(code + random_next(&seed) % (at - 1), "\x31\xed", 2);
		code_is_start(round % 4 == 0, code, size, at, ADDRESS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_starts_clear_rbp_and_never_return),
		cmocka_unit_test(x86_functions_that_use_rbp_are_no_starts),
		cmocka_unit_test(arm64_starts_clear_x29_and_never_return),
		cmocka_unit_test(any_code_is_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

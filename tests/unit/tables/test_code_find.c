/* SPDX-License-Identifier: BSD-3-Clause */

/* Functions are found in code without symbols. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/code/code.h"
#include "tables/hypercalls.h"
#include "base/random.h"

#define LABEL(name) ".globl " #name "; " #name ": "

asm(".pushsection .text; .balign 4096\n"
    /* Called by nobody: the code is known from its start on. It has a loop behind
     * padding, and its unlikely part was moved away. */
    LABEL(code) LABEL(first) "push %rbx; jmp 2f; .balign 16\n"
			     "1: call called; dec %rbx\n"
			     "2: test %rbx, %rbx; jne 1b; js first_cold; pop %rbx; ret\n"
			     ".balign 16\n"
    /* Called through a pointer only, and ends with a call that does not return. */
    LABEL(by_pointer) "sub $8, %rsp; call never_returns\n"
		      ".balign 16\n"
    /* The target of a jump at the end of another function. */
    LABEL(by_jump) "mov $1, %eax; ret\n"
		   ".balign 16\n" LABEL(
			   jumps) "xor %edi, %edi; test %esi, %esi; je 3f; jmp by_jump\n"
				  "3: ret\n"
				  ".balign 16\n" LABEL(
					  called) "ret\n"
						  ".balign 16\n" LABEL(
							  never_returns) "push %rax; 4: "
									 "call called; "
									 "jmp 4b\n"
    /* Functions that are not aligned, because they are small. */
    LABEL(first_cold) "call called; ud2\n" LABEL(
	    small) "push %rbp; pop %rbp; ret\n" LABEL(code_end) ".balign 4096; "
								".popsection\n");
extern const uint8_t code[], by_pointer[], by_jump[], jumps[], called[];
extern const uint8_t never_returns[], first_cold[], small[], code_end[];

#define ADDRESS 0x400000

/* Functions are found at these places of the code, and nowhere else. */
static void expect(struct machine_code *found, const uint64_t *known, size_t known_count,
		   const uint8_t *const *places, size_t count)
{
	assert_int_equal(code_find_functions(found, known, known_count), 0);
	for (size_t i = 0; i < count && i < found->count; i++)
		assert_int_equal(found->functions[i].start - ADDRESS,
				 (uint64_t)(places[i] - found->bytes));
	assert_int_equal(found->count, count);
	free((void *)(uintptr_t)found->functions);
}

static const uint8_t *const expected[] = {code,	  by_pointer,	 by_jump,    jumps,
					  called, never_returns, first_cold, small};
#define EXPECTED (sizeof(expected) / sizeof(expected[0]))

static void functions_are_found_by_calls_padding_and_prologues(void **state)
{
	struct machine_code found = {
		.bytes = code, .size = (size_t)(code_end - code), .address = ADDRESS};
	const uint64_t known[] = {ADDRESS - 1, ADDRESS};

	(void)state;
	expect(&found, known, 2, expected + 1, EXPECTED - 1);
}

/* The code is known from its end on. Its start is a function if nothing is mapped before
 * it. */
static void functions_are_found_before_what_is_known(void **state)
{
	struct machine_code found = {
		.bytes = code, .size = (size_t)(code_end - code), .address = ADDRESS};
	const uint64_t known = ADDRESS + (uint64_t)(first_cold - code);

	(void)state;
	expect(&found, &known, 1, expected + 1, EXPECTED - 1);
	found.is_first = true;
	expect(&found, &known, 1, expected, EXPECTED);
}

asm(".pushsection .text; .balign 4096\n"
    /* Behind data, and before the known code. */
    LABEL(data) ".long 0x12345607, 0x9abcdef0; .zero 24\n"
		".balign 16, 0\n" LABEL(behind_zeros) "lea 4(%rdi), %eax; ret\n"
						      ".balign 16\n"
    /* The start of a program. */
    LABEL(program) "xor %ebp, %ebp; pop %rsi; call *%rax; hlt\n"
		   ".balign 16\n" LABEL(behind_halt) "test %rdi, %rdi; ret\n"
						     ".balign 16\n"
    /* A switch, whose cases are aligned. */
    LABEL(has_switch) "push %rbx; cmp $2, %edi; ja 2f; jmp *%rsi\n"
		      "2: ud2; .balign 16\n"
		      "call *%rdx; inc %eax; jmp 3f; .balign 16\n"
		      "call *%rdx; dec %eax; .balign 16\n"
		      "3: pop %rbx; ret\n"
    /* A function that is not aligned, and is the target of a jump. */
    LABEL(by_jump_small) "push %rax; call *%rdx; pop %rcx; ret\n"
			 "jmp by_jump_small\n"
			 ".balign 16\n"
    /* A loop without end, aligned behind a call; and one that is a function. */
    LABEL(has_loop) "push %rbx; call *%rdx\n"
		    ".balign 16\n"
		    "5: call *%rdx; inc %ebx; jmp 5b\n"
		    ".balign 16\n" LABEL(is_loop) "pause; jmp is_loop\n"
						  ".balign 16\n"
    /* A function that calls a distant one by its full address. */
    LABEL(is_far) "push %rax; movabs $0x400000 + near - data, %rdx; call *%rdx\n"
		  "pop %rcx; ret\n" LABEL(near) "mov 8(%rdi), %rax; ret\n" LABEL(
			  data_end) ".balign 4096; .popsection\n");
extern const uint8_t data[], behind_zeros[], program[], behind_halt[], has_switch[];
extern const uint8_t by_jump_small[], has_loop[], is_loop[], is_far[], near[], data_end[];

static void functions_are_found_by_habits_of_compilers(void **state)
{
	const uint8_t *const places[] = {behind_zeros, program,	      behind_halt,
					 has_switch,   by_jump_small, has_loop,
					 is_loop,      is_far,	      near};
	struct machine_code found = {
		.bytes = data, .size = (size_t)(data_end - data), .address = ADDRESS};
	const uint64_t known = ADDRESS + (uint64_t)(has_switch - data);

	(void)state;
	expect(&found, &known, 1, places, sizeof(places) / sizeof(places[0]));
}

/* An arm64 instruction; whether a function is found there. */
struct line {
	uint32_t code;
	bool is_start;
};

/* Starts are not aligned. */
static void arm64_functions_are_found_by_what_they_do(void **state)
{
	static const struct line lines[] = {
		/* Called by nobody: the code is known from its start on. It has a switch.
		 */
		{0xf81f0ffe, false}, /* str x30,[sp,#-16]! */
		{0x9400001b, false}, /* bl called */
		{0xb40000c0, false}, /* cbz x0,1f */
		{0x10000061, false}, /* adr x1,0f */
		{0x8b20a821, false}, /* add x1,x1,w0,sxth #2 */
		{0xd61f0020, false}, /* br x1 */
		{0xd2800020, false}, /* 0: mov x0,#1 */
		{0x94000015, false}, /* bl called */
		{0xf84107fe, false}, /* 1: ldr x30,[sp],#16 */
		{0xd65f03c0, false}, /* ret */
		/* A leaf. */
		{0x91000400, true},  /* add x0,x0,#1 */
		{0xd65f03c0, false}, /* ret */
		/* A function that ends with a jump to the leaf. */
		{0xd10083ff, true},  /* sub sp,sp,#32 */
		{0xf90007e0, false}, /* str x0,[sp,#8] */
		{0x910083ff, false}, /* add sp,sp,#32 */
		{0x17fffffb, false}, /* b -5 */
		/* A part of the function has a frame, and ends with a call that does not
		   return. */
		{0xaa0003e1, true},  /* mov x1,x0 */
		{0x36100061, false}, /* tbz w1,#2,2f */
		{0xaa0103e0, false}, /* mov x0,x1 */
		{0xd65f03c0, false}, /* ret */
		{0xa9bf7bfd, false}, /* 2: stp x29,x30,[sp,#-16]! */
		{0x94000009, false}, /* bl never_returns */
		{0xd503233f, true},  /* paciasp */
		{0xa9bf7bfd, false}, /* stp x29,x30,[sp,#-16]! */
		{0x94000004, false}, /* bl called */
		{0xa8c17bfd, false}, /* ldp x29,x30,[sp],#16 */
		{0xd65f0bff, false}, /* retaa */
		{0xd503201f, false}, /* nop */
		{0xd503245f, true},  /* called: bti c */
		{0xd61f0040, false}, /* br x2 */
		{0xd10043ff, true},  /* never_returns: sub sp,sp,#16 */
		{0xa9007bfd, false}, /* stp x29,x30,[sp] */
		{0x97fffffc, false}, /* 3: bl called */
		{0x17ffffff, false}, /* b 3b */
		/* Landing pads of exceptions. */
		{0xaa0003f3, false}, /* mov x19,x0 */
		{0x97fffff9, false}, /* bl called */
		{0xf94007e0, false}, /* ldr x0,[sp,#8] */
		{0x910083ff, false}, /* add sp,sp,#32 */
		{0xd65f03c0, false}, /* ret */
		{0x97fffff5, false}, /* bl called */
		/* An empty function. */
		{0xd65f03c0, true}, /* ret */
		/* The end of a function, whose last call returns to its caller. */
		{0xa8c17bfd, false}, /* ldp x29,x30,[sp],#16 */
		{0x17fffff4, false}, /* b never_returns */
		/* Data that looks like a call, of the last ldr. */
		{0x97fffff9, false},
		/* A function that starts with a call that does not return, but is called
		 * twice. */
		{0x97fffff2, true},  /* bl never_returns */
		{0x97ffffff, false}, /* bl -1 */
		{0x97fffffe, false}, /* bl -2 */
	};
	const size_t count = sizeof(lines) / sizeof(lines[0]);
	uint32_t bytes[sizeof(lines) / sizeof(lines[0])];
	struct machine_code found = {.is_arm64 = true,
				     .bytes = (const uint8_t *)bytes,
				     .size = sizeof(bytes),
				     .address = ADDRESS};
	const uint64_t known = ADDRESS;
	size_t next = 0;

	(void)state;
	for (size_t i = 0; i < count; i++)
		bytes[i] = lines[i].code;
	assert_int_equal(code_find_functions(&found, &known, 1), 0);
	for (size_t i = 0; i < count; i++) {
		bool is_start = next < found.count &&
				found.functions[next].start == ADDRESS + 4 * i;

		if (is_start != lines[i].is_start)
			fail_msg("instruction %zu is%s a start", i,
				 is_start ? "" : " not");
		next += is_start;
	}
	assert_int_equal(next, found.count);
	free((void *)(uintptr_t)found.functions);
}

static void random_bytes_are_safe(void **state)
{
	uint8_t bytes[4096];
	uint64_t seed = 1;

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		struct machine_code found = {.is_arm64 = round % 3 == 0,
					     .address = -(uint64_t)sizeof(bytes)};
		uint64_t known[8];
		size_t size = random_next(&seed) % sizeof(bytes);
		uint8_t *copy = malloc(size + 1);

		assert_non_null(copy);
		for (size_t i = 0; i < size; i++) {
			copy[i] = (uint8_t)random_next(&seed);
			/* Calls and jumps of places that are close. */
			if (round % 2 && i % 7 == 4 && i > 4)
				memcpy(copy + i - 4,
				       (uint8_t[]){0xe8, copy[i - 3], copy[i - 2] % 16,
						   0},
				       4);
		}
		for (size_t i = 0; i < 8; i++)
			known[i] = found.address +
				   random_next(&seed) % (2 * sizeof(bytes));
		found.bytes = copy;
		found.size = size;
		assert_int_equal(code_find_functions(&found, known, 8), 0);
		for (size_t i = 0; i < found.count; i++) {
			assert_true(found.functions[i].start - found.address < size);
			assert_true(!i || found.functions[i].start >
						  found.functions[i - 1].start);
		}
		free((void *)(uintptr_t)found.functions);
		free(copy);
	}
}

/* Xen's stubs have the number of their hypercall; with and without the guest's own page
 * tables. */
static void a_page_of_hypercalls_is_recognized(void **state)
{
	static const uint8_t pv[] = {0x51, 0x41, 0x53, 0xb8}, hvm[] = {0xb8};
	uint8_t page[4096] = {0};

	(void)state;
	for (size_t i = 3; i < 27; i++) {
		uint8_t *stub = page + i * 32;

		assert_false(hypercall_page_is_filled(page));
		memcpy(stub, i % 2 ? pv : hvm, i % 2 ? sizeof(pv) : sizeof(hvm));
		stub[i % 2 ? sizeof(pv) : sizeof(hvm)] = (uint8_t)i;
	}
	assert_true(hypercall_page_is_filled(page));
	page[7 * 32 + sizeof(pv)]++;
	assert_false(hypercall_page_is_filled(page));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found_by_calls_padding_and_prologues),
		cmocka_unit_test(functions_are_found_before_what_is_known),
		cmocka_unit_test(functions_are_found_by_habits_of_compilers),
		cmocka_unit_test(arm64_functions_are_found_by_what_they_do),
		cmocka_unit_test(random_bytes_are_safe),
		cmocka_unit_test(a_page_of_hypercalls_is_recognized),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */

/* How a function returns, found from its x86 code: each kind of exit, and the notes made.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "unwind/x86_exit.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define PAGES		64
#define START		0x800u /* of the code, in pages of int3 */
#define SPACE		0x1000u

struct code {
	uint8_t bytes[PAGES * GUEST_PAGE_SIZE];
	uint8_t view[GUEST_PAGE_SIZE];
	bool missing[PAGES];
	unsigned int calls; /* of page() */
	struct unwind_input input;
};

static const void *code_page(void *context, uint64_t frame)
{
	struct code *code = context;

	code->calls++;
	memset(code->view, 0xee, sizeof(code->view));
	if (frame >= PAGES || code->missing[frame])
		return NULL;
	memcpy(code->view, code->bytes + frame * GUEST_PAGE_SIZE, GUEST_PAGE_SIZE);
	return code->view;
}

static enum translation same(const void *cpu, const struct guest_memory *memory,
			     struct last_table *last, uint64_t address, uint64_t *frame)
{
	(void)cpu;
	(void)memory;
	(void)last;
	*frame = address >> GUEST_PAGE_SHIFT;
	return *frame < PAGES ? TRANSLATED : NOT_PRESENT;
}

static struct code *code_new(void)
{
	struct code *code = calloc(1, sizeof(*code));

	assert_non_null(code);
	memset(code->bytes, 0xcc, sizeof(code->bytes));
	code->input.memory = (struct guest_memory){.page = code_page, .context = code};
	return code;
}

static struct x86_exit leave(struct code *code, uint64_t address, unsigned int word)
{
	struct reader reader = {.translate = same, .input = &code->input};

	code->calls = 0;
	return x86_leave(&reader, address, SPACE, word);
}

#define FRAME                         \
	{                             \
		.kind = EXIT_BY_FRAME \
	}
#define STACK(at)                                   \
	{                                           \
		.kind = EXIT_BY_STACK, .caller = at \
	}
#define SAVED(at, where)                                                               \
	{                                                                              \
		.kind = EXIT_BY_STACK, .caller = at, .has_saved = true, .saved = where \
	}
#define MAKING(at, where)                                                               \
	{                                                                               \
		.kind = EXIT_IN_MAKING, .caller = at, .has_saved = true, .saved = where \
	}
#define CHANCE(at)                                   \
	{                                            \
		.kind = EXIT_BY_CHANCE, .caller = at \
	}
#define INTERRUPT(at, where)                                                \
	{                                                                   \
		.kind = EXIT_BY_INTERRUPT, .caller = at, .has_saved = true, \
		.saved = where                                              \
	}
#define CODE(...) {__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__})

struct example {
	const char *what;
	uint8_t code[40];
	unsigned int size;
	struct x86_exit exit;
};

static const struct example examples_64[] = {
	{"a leaf returns", CODE(0x01, 0xc8, 0xc3), STACK(0)},
	{"it returns and pops arguments", CODE(0xc2, 0x10, 0x00), STACK(0)},
	{"its stack pointer is moved back", CODE(0x48, 0x83, 0xc4, 0x18, 0xc3),
	 STACK(24)},
	{"by lea", CODE(0x48, 0x8d, 0x64, 0x24, 0x28, 0xc3), STACK(40)},
	{"registers are restored", CODE(0x5b, 0x41, 0x5c, 0xc3), STACK(16)},
	{"rbp among them", CODE(0x5b, 0x5d, 0x41, 0x5c, 0xc3), SAVED(24, 8)},
	{"by mov", CODE(0x48, 0x8b, 0x6c, 0x24, 0x10, 0x48, 0x83, 0xc4, 0x20, 0xc3),
	 SAVED(32, 16)},
	{"registers are saved and restored",
	 CODE(0x53, 0x41, 0x54, 0x31, 0xdb, 0x41, 0x5c, 0x5b, 0xc3), STACK(0)},
	{"rbp is, which is data between", CODE(0x55, 0x31, 0xed, 0x5d, 0xc3), STACK(0)},
	{"it is saved by mov",
	 CODE(0x48, 0x83, 0xec, 0x10, 0x48, 0x89, 0x6c, 0x24, 0x08, 0x31, 0xed, 0x48,
	      0x8b, 0x6c, 0x24, 0x08, 0x48, 0x83, 0xc4, 0x10, 0xc3),
	 STACK(0)},
	{"a frame is to be made", CODE(0x31, 0xc0, 0x55, 0x48, 0x89, 0xe5, 0xcc),
	 STACK(0)},
	{"a copy of the return address is pushed below it, for an aligned stack",
	 CODE(0x41, 0xff, 0x72, 0xf8, 0x55, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 1, 0), FRAME},
	{"it is half made", CODE(0x48, 0x89, 0xe5, 0xcc), MAKING(8, 0)},
	{"a frame is left by leave", CODE(0xc9, 0xc3), FRAME},
	{"by mov", CODE(0x48, 0x89, 0xec, 0x5d, 0xc3), FRAME},
	{"by lea", CODE(0x48, 0x8d, 0x65, 0xf0, 0x5b, 0x41, 0x5c, 0x5d, 0xc3), FRAME},
	{"a call needs a frame", CODE(0xe8, 0, 0, 1, 0, 0xc3), FRAME},
	{"a call of a register, too", CODE(0xff, 0xd0, 0xc3), FRAME},
	{"a call of what is next is a push", CODE(0xe8, 0, 0, 0, 0, 0x58, 0xc3),
	 STACK(0)},
	{"a jump ahead", CODE(0xeb, 0x02, 0xcc, 0xcc, 0xc3), STACK(0)},
	{"a jump that is taken or not", CODE(0x75, 0x01, 0xc3, 0x5b, 0xc3), STACK(0)},
	{"the way on ends in nothing, the jump does not",
	 CODE(0x75, 0x02, 0x0f, 0x0b, 0xc3), STACK(0)},
	{"a loop that is left by a jump in it",
	 CODE(0x74, 0x04, 0xff, 0xc8, 0xeb, 0xfa, 0x5b, 0xc3), STACK(8)},
	{"a loop that is never left", CODE(0xff, 0xc8, 0xeb, 0xfc), FRAME},
	{"a jump nobody knows where", CODE(0xff, 0xe0), CHANCE(0)},
	{"but another way is known", CODE(0x75, 0x02, 0xff, 0xe0, 0x5b, 0xc3), STACK(8)},
	{"another stack", CODE(0x48, 0x89, 0xfc, 0xc3), FRAME},
	{"an aligned one", CODE(0x48, 0x83, 0xe4, 0xf0, 0xc3), FRAME},
	{"an address was pushed, for a jump", CODE(0x50, 0xc3), FRAME},
	{"an interrupt's end", CODE(0x58, 0x5d, 0x48, 0xcf), INTERRUPT(16, 8)},
	{"the stack pointer is in rbp for a while, which was saved",
	 CODE(0x48, 0x8d, 0x6c, 0x24, 0x08, 0x48, 0x89, 0xec, 0x5d, 0xc3), SAVED(16, 8)},
	{"Xen's hypercall page for PV",
	 CODE(0x51, 0x41, 0x53, 0xb8, 1, 0, 0, 0, 0x0f, 0x05, 0x41, 0x5b, 0x59, 0xc3),
	 STACK(0)},
	{"behind its second push",
	 CODE(0xb8, 1, 0, 0, 0, 0x0f, 0x05, 0x41, 0x5b, 0x59, 0xc3), STACK(16)},
	{"behind its syscall", CODE(0x41, 0x5b, 0x59, 0xc3), STACK(16)},
	{"and one instruction on", CODE(0x59, 0xc3), STACK(8)},
	{"Xen's hypercall page for HVM", CODE(0xb8, 1, 0, 0, 0, 0x0f, 0x01, 0xc1, 0xc3),
	 STACK(0)},
	{"an idle vCPU", CODE(0xfb, 0xf4, 0x5d, 0xc3), SAVED(8, 0)},
};

static const struct example examples_32[] = {
	{"a leaf returns", CODE(0x01, 0xc8, 0xc3), STACK(0)},
	{"registers are restored", CODE(0x5b, 0x5e, 0xc3), STACK(8)},
	{"ebp among them", CODE(0x5b, 0x5d, 0xc3), SAVED(8, 4)},
	{"a frame is to be made", CODE(0x55, 0x89, 0xe5, 0xcc), STACK(0)},
	{"it is half made", CODE(0x89, 0xe5, 0xcc), MAKING(4, 0)},
	{"its stack pointer is moved back", CODE(0x83, 0xc4, 0x0c, 0xc3), STACK(12)},
	{"it asks where it is",
	 CODE(0xe8, 2, 0, 0, 0, 0x5b, 0xc3, 0x8b, 0x1c, 0x24, 0xc3), STACK(4)},
};

static void expect(const struct example *example, struct x86_exit exit)
{
	if (exit.kind != example->exit.kind || exit.caller != example->exit.caller ||
	    exit.has_saved != example->exit.has_saved ||
	    exit.saved != example->exit.saved)
		fail_msg("%s: kind %d at %d, saved %d at %d", example->what,
			 (int)exit.kind, exit.caller, exit.has_saved, exit.saved);
}

static void check_exit(const struct example *example, unsigned int word)
{
	struct code *code = code_new();
	struct code_notes *notes = calloc(1, sizeof(*notes));

	assert_non_null(notes);
	memcpy(code->bytes + START, example->code, example->size);
	expect(example, leave(code, START, word));
	/* Exits across a page boundary, and from notes. */
	for (unsigned int cut = 1; cut < example->size; cut++) {
		uint64_t address = 4 * GUEST_PAGE_SIZE - cut;

		memset(code->bytes, 0xcc, sizeof(code->bytes));
		memcpy(code->bytes + address, example->code, example->size);
		code->input.notes = NULL;
		expect(example, leave(code, address, word));
		code->input.notes = notes;
		code_notes_renew(notes);
		expect(example, leave(code, address, word));
		expect(example, leave(code, address, word));
		memset(notes, 0, sizeof(*notes));
	}
	free(notes);
	free(code);
}

static void every_way_to_exit_a_function_is_recognized(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(examples_64); i++)
		check_exit(&examples_64[i], 8);
	for (size_t i = 0; i < COUNT_OF(examples_32); i++)
		check_exit(&examples_32[i], 4);
}

/* With a note, only the code needed to check that it is unchanged is read. */
static void a_note_replaces_a_search_of_the_same_code_only(void **state)
{
	struct code *code = code_new();
	struct code_notes *notes = calloc(1, sizeof(*notes));
	uint8_t jump[] = {0xe9, 0xfb, 0x1f, 0x00, 0x00};

	(void)state;
	assert_non_null(notes);
	code_notes_renew(notes);
	code->input.notes = notes;
	memcpy(code->bytes + START, jump, sizeof(jump));
	code->bytes[START + 0x2000] = 0x5b;
	code->bytes[START + 0x2001] = 0xc3;
	assert_int_equal(leave(code, START, 8).caller, 8);
	assert_true(code->calls > 1);
	assert_int_equal(leave(code, START, 8).caller, 8);
	assert_int_equal(code->calls, 1);
	/* The code has changed: the note is not used. */
	code->bytes[START] = 0xc3;
	assert_int_equal(leave(code, START, 8).caller, 0);
	/* Nor is it used in another address space. */
	notes->exit[(START ^ START / EXIT_NOTES) % EXIT_NOTES].space = SPACE + 1;
	code->bytes[START + 1] = 0x90;
	assert_int_equal(leave(code, START, 8).kind, EXIT_BY_STACK);
	free(notes);
	free(code);
}

static void notes_expire(void **state)
{
	struct code_notes *notes = calloc(1, sizeof(*notes));
	unsigned int renewals = 0;

	(void)state;
	assert_non_null(notes);
	notes->exit[7].address = 1;
	while (notes->exit[7].address && renewals < 5000) {
		code_notes_renew(notes);
		renewals++;
	}
	assert_true(renewals >= 100 && renewals < 5000);
	free(notes);
}

/* If a page was unavailable, the next time may find more. */
static void code_that_cannot_be_read_is_not_noted(void **state)
{
	struct code *code = code_new();
	struct code_notes *notes = calloc(1, sizeof(*notes));
	uint8_t jump[] = {0xe9, 0xfb, 0x1f, 0x00, 0x00};

	(void)state;
	assert_non_null(notes);
	code_notes_renew(notes);
	code->input.notes = notes;
	memcpy(code->bytes + START, jump, sizeof(jump));
	code->bytes[START + 0x2000] = 0xc3;
	code->missing[(START + 0x2000) / GUEST_PAGE_SIZE] = true;
	assert_int_equal(leave(code, START, 8).kind, EXIT_BY_FRAME);
	code->missing[(START + 0x2000) / GUEST_PAGE_SIZE] = false;
	assert_int_equal(leave(code, START, 8).kind, EXIT_BY_STACK);
	free(notes);
	free(code);
}

/* Functions of thousands of instructions without a jump are too long for a pause; but
 * notes made before the pause, from anywhere in them, are used for the rest. */
static void long_paths_are_noted_in_blocks(void **state)
{
	struct code *code = code_new();
	struct code_notes *notes = calloc(1, sizeof(*notes));
	uint64_t end = START + 3000;

	(void)state;
	assert_non_null(notes);
	for (uint64_t at = START; at < end; at += 3) /* nopl (%rax) */
		memcpy(code->bytes + at, "\x0f\x1f", 3);
	code->bytes[end] = 0x5b;
	code->bytes[end + 1] = 0xc3;
	code->input.notes = notes;
	notes->budget = 4096;
	assert_int_equal(leave(code, START, 8).kind, EXIT_BY_FRAME);
	code_notes_renew(notes);
	assert_int_equal(leave(code, START, 8).kind, EXIT_BY_STACK);
	notes->budget = 4096;
	for (uint64_t at = START; at < end; at += 21) {
		struct x86_exit exit = leave(code, at, 8);

		assert_int_equal(exit.kind, EXIT_BY_STACK);
		assert_int_equal(exit.caller, 8);
	}
	free(notes);
	free(code);
}

/* Code that jumps from page to page endlessly, and pages that can't be read. */
static void a_search_enters_a_bounded_number_of_pages(void **state)
{
	struct code *code = code_new();

	(void)state;
	for (unsigned int i = 0; i + 1 < PAGES; i++) {
		/* jne to the page after the next; jmp to the next one */
		uint8_t jumps[] = {0x0f, 0x85, 0xfa, 0x1f, 0, 0, 0xe9, 0xf5, 0x0f, 0, 0};

		memcpy(code->bytes + i * GUEST_PAGE_SIZE, jumps, sizeof(jumps));
	}
	for (unsigned int missing = 0; missing < PAGES; missing++) {
		code->missing[missing] = true;
		assert_int_equal(leave(code, 0, 8).kind, EXIT_BY_FRAME);
		assert_true(code->calls <= UNWIND_CODE_PAGES_MAX);
		code->missing[missing] = missing % 3 == 0;
	}
	free(code);
}

static void addresses_after_calls_are_recognized(void **state)
{
	static const struct {
		uint8_t code[8];
		unsigned int size;
		bool is_call;
		uint64_t target;
	} calls[] = {
		{{0xe8, 0x10, 0, 0, 0}, 5, true, START + 0x10},
		{{0xff, 0xd0}, 2, true, 0},		      /* call *%rax */
		{{0x41, 0xff, 0xd3}, 3, true, 0},	      /* call *%r11 */
		{{0xff, 0x10}, 2, true, 0},		      /* call *(%rax) */
		{{0xff, 0x50, 0x08}, 3, true, 0},	      /* call *8(%rax) */
		{{0xff, 0x54, 0x24, 0x08}, 4, true, 0},	      /* call *8(%rsp) */
		{{0xff, 0x15, 1, 2, 3, 0}, 6, true, 0},	      /* call *n(%rip) */
		{{0xff, 0x14, 0xc5, 1, 2, 3, 0}, 7, true, 0}, /* call *n(,%rax,8) */
		{{0xff, 0xe0}, 2, false, 0},		      /* jmp *%rax */
		{{0xe9, 0x10, 0, 0, 0}, 5, false, 0},
		{{0xff, 0xc0}, 2, false, 0}, /* inc %eax */
		{{0x90, 0xc3}, 2, false, 0},
		{{0xe8, 0x10, 0, 0}, 4, false, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(calls); i++)
		for (unsigned int offset = 0; offset < 10; offset++) {
			struct code *code = code_new();
			struct reader reader = {.translate = same, .input = &code->input};
			uint64_t address = 3 * GUEST_PAGE_SIZE + offset, target = 1;

			memcpy(code->bytes + address - calls[i].size, calls[i].code,
			       calls[i].size);
			assert_int_equal(x86_follows_call(&reader, address, 8, &target),
					 calls[i].is_call);
			if (calls[i].target)
				assert_int_equal(target,
						 address + calls[i].target - START);
			else
				assert_int_equal(target, 0);
			assert_true(code->calls <= 2);
			/* An unmapped address is not one. */
			memset(code->missing, true, sizeof(code->missing));
			reader.page = NULL;
			assert_false(x86_follows_call(&reader, address, 8, &target));
			assert_false(x86_follows_call(&reader, offset, 8, &target));
			free(code);
		}
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_to_exit_a_function_is_recognized),
		cmocka_unit_test(a_note_replaces_a_search_of_the_same_code_only),
		cmocka_unit_test(notes_expire),
		cmocka_unit_test(code_that_cannot_be_read_is_not_noted),
		cmocka_unit_test(long_paths_are_noted_in_blocks),
		cmocka_unit_test(a_search_enters_a_bounded_number_of_pages),
		cmocka_unit_test(addresses_after_calls_are_recognized),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

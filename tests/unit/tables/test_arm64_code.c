/* SPDX-License-Identifier: BSD-3-Clause */

/* Tables made from arm64 machine code: the rule at each kind of instruction. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/arm/arm64_code.h"
#include "symbols/code.h"
#include "symbols/source.h"
#include "tables/cfi/cfi.h"
#include "tables/code/code.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define ADDRESS		0xffff000000400000
#define KEPT		UNWIND_KEPT
#define OFFSET		0x1000 /* of a file's addresses */

/* An instruction, and the rule before it is executed. */
struct line {
	uint32_t code;
	struct unwind_rule rule;
};

/* The CFA by the stack pointer or by x29, and where the return address and the caller's
 * x29 are. */
/* clang-format off */
#define SP(bytes, link, frame) \
	{.kind = UNWIND_CALLER, .cfa = (bytes), .caller = (link), .fp = (frame)}
#define FP(bytes, link, frame) \
	{.kind = UNWIND_CALLER, .from_fp = true, .cfa = (bytes), .caller = (link), \
	 .fp = (frame)}
#define ENTRY	  SP(0, KEPT, KEPT)
#define OUTERMOST {.kind = UNWIND_OUTERMOST}
#define NONE	  {.kind = UNWIND_UNKNOWN}
/* clang-format on */

static struct unwind_table *make_table(const uint8_t *bytes, size_t size,
				       struct code_function function)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct machine_code code = {.is_arm64 = true,
				    .bytes = bytes,
				    .size = size,
				    .address = ADDRESS,
				    .functions = &function,
				    .count = 1};
	struct unwind_table *table;
	struct error err;

	assert_non_null(builder);
	assert_int_equal(unwind_table_add_code(builder, &code, &err), 0);
	table = unwind_builder_finish(builder);
	assert_non_null(table);
	unwind_builder_free(builder);
	return table;
}

static void expect(const struct unwind_rule *rule, const struct unwind_rule *wanted)
{
	assert_int_equal(rule ? rule->kind : UNWIND_UNKNOWN, wanted->kind);
	if (wanted->kind != UNWIND_CALLER)
		return;
	assert_int_equal(rule->from_fp, wanted->from_fp);
	assert_int_equal(rule->cfa, wanted->cfa);
	assert_int_equal(rule->caller, wanted->caller);
	assert_int_equal(rule->fp, wanted->fp);
	assert_false(rule->from_word || rule->fp_by_register || rule->other);
}

static void check_part(const struct line *line, size_t count, uint8_t part)
{
	static const struct unwind_rule none = NONE;
	uint32_t *code = calloc(count, sizeof(*code));
	struct unwind_table *table;

	assert_non_null(code);
	for (size_t i = 0; i < count; i++)
		code[i] = line[i].code;
	table = make_table((const uint8_t *)code, count * sizeof(*code),
			   (struct code_function){.start = ADDRESS, .part = part});
	for (size_t i = 0; i < count; i++) {
		const struct unwind_rule *rule = unwind_table_find(table,
								   ADDRESS + 4 * i);

		expect(rule, &line[i].rule);
	}
	expect(unwind_table_find(table, ADDRESS + 4 * count), &none);
	unwind_table_free(table);
	free(code);
}

#define CHECK(function) check_part(function, COUNT_OF(function), CODE_PART_UNKNOWN)

static void follows_frames(void **state)
{
	static const struct line leaf[] = {
		{0xd10083ff, ENTRY},		  /* sub sp,sp,#32 */
		{0xf90007e0, SP(32, KEPT, KEPT)}, /* str x0,[sp,#8] */
		{0x910083ff, SP(32, KEPT, KEPT)}, /* add sp,sp,#32 */
		{0xd65f03c0, ENTRY},		  /* ret */
	};
	/* With a signed return address. */
	static const struct line frame[] = {
		{0xd503233f, ENTRY},		/* paciasp */
		{0xa9bd7bfd, ENTRY},		/* stp x29,x30,[sp,#-48]! */
		{0x910003fd, SP(48, -40, -48)}, /* mov x29,sp */
		{0xf9000bf3, SP(48, -40, -48)}, /* str x19,[sp,#16] */
		{0x94000400, SP(48, -40, -48)}, /* bl */
		{0xf9400bf3, SP(48, -40, -48)}, /* ldr x19,[sp,#16] */
		{0xa8c37bfd, SP(48, -40, -48)}, /* ldp x29,x30,[sp],#48 */
		{0xd65f0bff, ENTRY},		/* retaa */
	};
	static const struct line bare[] = {
		{0xf81f0ffe, ENTRY},		 /* str x30,[sp,#-16]! */
		{0xd63f0020, SP(16, -16, KEPT)}, /* blr x1 */
		{0xf84107fe, SP(16, -16, KEPT)}, /* ldr x30,[sp],#16 */
		{0xd65f03c0, ENTRY},		 /* ret */
	};
	/* x29 is used for something else. */
	static const struct line general[] = {
		{0xd10103ff, ENTRY},		  /* sub sp,sp,#64 */
		{0x6dbf27e8, SP(64, KEPT, KEPT)}, /* stp d8,d9,[sp,#-16]! */
		{0xa9027bfd, SP(80, KEPT, KEPT)}, /* stp x29,x30,[sp,#32] */
		{0xf940001d, SP(80, -40, -48)},	  /* ldr x29,[x0] */
		{0xd63f0020, SP(80, -40, -48)},	  /* blr x1 */
		{0xa9427bfd, SP(80, -40, -48)},	  /* ldp x29,x30,[sp,#32] */
		{0x6cc127e8, SP(80, -40, -48)},	  /* ldp d8,d9,[sp],#16 */
		{0x910103ff, SP(64, -40, -48)},	  /* add sp,sp,#64 */
		{0xd65f03c0, ENTRY},		  /* ret */
	};

	(void)state;
	CHECK(leaf);
	CHECK(frame);
	CHECK(bare);
	CHECK(general);
}

static void frames_may_have_any_size(void **state)
{
	static const struct line large[] = {
		{0xd282020c, ENTRY},			   /* mov x12,#0x1010 */
		{0xf2a0004c, ENTRY},			   /* movk x12,#2,lsl #16 */
		{0x528000a0, ENTRY},			   /* mov w0,#5 */
		{0xcb2c63ff, ENTRY},			   /* sub sp,sp,x12 */
		{0xf90003fe, SP(0x21010, KEPT, KEPT)},	   /* str x30,[sp] */
		{0xd63f0020, SP(0x21010, -0x21010, KEPT)}, /* blr x1 */
		{0xf94003fe, SP(0x21010, -0x21010, KEPT)}, /* ldr x30,[sp] */
		{0xd282020c, SP(0x21010, -0x21010, KEPT)}, /* mov x12,#0x1010 */
		{0xf2a0004c, SP(0x21010, -0x21010, KEPT)}, /* movk x12,#2,lsl #16 */
		{0x8b2c63ff, SP(0x21010, -0x21010, KEPT)}, /* add sp,sp,x12 */
		{0xd65f03c0, ENTRY},			   /* ret */
	};
	static const struct line pages[] = {
		{0xd14007ff, ENTRY},		    /* sub sp,sp,#1,lsl #12 */
		{0xd10043ff, SP(4096, KEPT, KEPT)}, /* sub sp,sp,#16 */
		{0x914007ff, SP(4112, KEPT, KEPT)}, /* add sp,sp,#1,lsl #12 */
		{0x910043ff, SP(16, KEPT, KEPT)},   /* add sp,sp,#16 */
		{0xd65f03c0, ENTRY},		    /* ret */
	};
	/* The constant does not survive the call. */
	static const struct line stale[] = {
		{0xa9bf7bfd, ENTRY},	       /* stp x29,x30,[sp,#-16]! */
		{0xd282020c, SP(16, -8, -16)}, /* mov x12,#0x1010 */
		{0xd63f0020, SP(16, -8, -16)}, /* blr x1 */
		{0xcb2c63ff, SP(16, -8, -16)}, /* sub sp,sp,x12 */
		{0xd65f03c0, NONE},	       /* ret */
	};

	(void)state;
	CHECK(large);
	CHECK(pages);
	CHECK(stale);
}

/* Where the stack pointer is not known, x29 may be; then it is used in all of the body.
 */
static void frames_need_no_known_stack_pointer(void **state)
{
	static const struct line alloca[] = {
		{0xa9be7bfd, ENTRY},		/* stp x29,x30,[sp,#-32]! */
		{0x910003fd, SP(32, -24, -32)}, /* mov x29,sp */
		{0xf9000bf3, FP(32, -24, -32)}, /* str x19,[sp,#16] */
		{0xcb2063ff, FP(32, -24, -32)}, /* sub sp,sp,x0 */
		{0xd63f0020, FP(32, -24, -32)}, /* blr x1 */
		{0x910003bf, FP(32, -24, -32)}, /* mov sp,x29 */
		{0xf9400bf3, FP(32, -24, -32)}, /* ldr x19,[sp,#16] */
		{0xa8c27bfd, FP(32, -24, -32)}, /* ldp x29,x30,[sp],#32 */
		{0xd65f03c0, ENTRY},		/* ret */
	};
	/* The stack is released by x29, which says that it may be of any size. */
	static const struct line released[] = {
		{0xa9be7bfd, ENTRY},		/* stp x29,x30,[sp,#-32]! */
		{0x910003fd, SP(32, -24, -32)}, /* mov x29,sp */
		{0xd100c3ff, FP(32, -24, -32)}, /* sub sp,sp,#48 */
		{0xd63f0020, FP(32, -24, -32)}, /* blr x1 */
		{0x910003bf, FP(32, -24, -32)}, /* mov sp,x29 */
		{0xa8c27bfd, FP(32, -24, -32)}, /* ldp x29,x30,[sp],#32 */
		{0xd65f03c0, ENTRY},		/* ret */
	};
	static const struct line lost[] = {
		{0xf81f0ffe, ENTRY},		 /* str x30,[sp,#-16]! */
		{0xcb2063ff, SP(16, -16, KEPT)}, /* sub sp,sp,x0 */
		{0xd63f0020, NONE},		 /* blr x1 */
		{0xd4200020, NONE},		 /* brk #1 */
	};
	static const struct line aligned[] = {
		{0xd100c3e9, ENTRY}, /* sub x9,sp,#48 */
		{0x927be93f, ENTRY}, /* and sp,x9,#-32 */
		{0xd65f03c0, NONE},  /* ret */
	};

	(void)state;
	CHECK(alloca);
	CHECK(released);
	CHECK(lost);
	CHECK(aligned);
}

static void follows_jumps(void **state)
{
	/* A frame on one of two paths, a tail call. */
	static const struct line early[] = {
		{0xb40000c0, ENTRY},	       /* cbz x0,1f */
		{0xa9bf7bfd, ENTRY},	       /* stp x29,x30,[sp,#-16]! */
		{0x94000400, SP(16, -8, -16)}, /* bl */
		{0xa8c17bfd, SP(16, -8, -16)}, /* ldp x29,x30,[sp],#16 */
		{0x37180040, ENTRY},	       /* tbnz w0,#3,1f */
		{0x14000800, ENTRY},	       /* b */
		{0x52800020, ENTRY},	       /* 1: mov w0,#1 */
		{0xd65f03c0, ENTRY},	       /* ret */
	};
	/* Code after a call that does not return belongs to another path. */
	static const struct line endless[] = {
		{0xb40000a0, ENTRY},		 /* cbz x0,1f */
		{0xf81d0ffe, ENTRY},		 /* str x30,[sp,#-48]! */
		{0xb5000080, SP(48, -48, KEPT)}, /* cbnz x0,2f */
		{0xf84307fe, SP(48, -48, KEPT)}, /* ldr x30,[sp],#48 */
		{0x94000800, ENTRY},		 /* bl */
		{0xd65f03c0, ENTRY},		 /* 1: ret */
		{0xd63f0080, SP(48, -48, KEPT)}, /* 2: blr x4 */
		{0x17fffffc, SP(48, -48, KEPT)}, /* b to ldr */
	};
	static const struct line disagree[] = {
		{0xb4000040, ENTRY}, /* cbz x0,1f */
		{0xd10043ff, ENTRY}, /* sub sp,sp,#16 */
		{0x52800021, NONE},  /* 1: mov w1,#1 */
		{0xd65f03c0, NONE},  /* ret */
	};

	(void)state;
	CHECK(early);
	CHECK(endless);
	CHECK(disagree);
}

static void code_that_no_jump_reaches_has_a_likely_state(void **state)
{
	static const struct line cases[] = {
		{0xa9bf7bfd, ENTRY},	       /* stp x29,x30,[sp,#-16]! */
		{0x10000081, SP(16, -8, -16)}, /* adr x1,1f */
		{0x38604862, SP(16, -8, -16)}, /* ldrb w2,[x3,w0,uxtw] */
		{0x8b228821, SP(16, -8, -16)}, /* add x1,x1,w2,sxtb #2 */
		{0xd61f0020, SP(16, -8, -16)}, /* br x1 */
		{0xd63f0080, SP(16, -8, -16)}, /* 1: blr x4 */
		{0xa8c17bfd, SP(16, -8, -16)}, /* ldp x29,x30,[sp],#16 */
		{0xd65f03c0, ENTRY},	       /* ret */
	};
	/* A switch in a leaf without a frame, with the instructions of a tail call. */
	static const struct line leaf_cases[] = {
		{0x10000081, ENTRY},		  /* adr x1,1f */
		{0x8b228821, ENTRY},		  /* add x1,x1,w2,sxtb #2 */
		{0xd61f0020, ENTRY},		  /* br x1 */
		{0xd10043ff, ENTRY},		  /* 1: sub sp,sp,#16 */
		{0x910043ff, SP(16, KEPT, KEPT)}, /* add sp,sp,#16 */
		{0xd65f03c0, ENTRY},		  /* ret */
	};
	/* After the function's end, the landing pad of an exception. */
	static const struct line pad[] = {
		{0xd10083ff, ENTRY},		  /* sub sp,sp,#32 */
		{0xf9000bfe, SP(32, KEPT, KEPT)}, /* str x30,[sp,#16] */
		{0x94000400, SP(32, -16, KEPT)},  /* bl */
		{0xf9400bfe, SP(32, -16, KEPT)},  /* ldr x30,[sp,#16] */
		{0x910083ff, SP(32, -16, KEPT)},  /* add sp,sp,#32 */
		{0xd61f0200, ENTRY},		  /* br x16 */
		{0xaa0003f3, SP(32, -16, KEPT)},  /* mov x19,x0 */
		{0x94000400, SP(32, -16, KEPT)},  /* bl */
	};

	(void)state;
	CHECK(cases);
	CHECK(leaf_cases);
	CHECK(pad);
}

static void says_where_there_is_no_caller(void **state)
{
	static const struct line start[] = {
		{0xd280001d, ENTRY},	 /* mov x29,#0 */
		{0xaa1f03fe, OUTERMOST}, /* mov x30,xzr */
		{0x94000400, OUTERMOST}, /* bl */
	};
	static const struct line start_without_frame[] = {
		{0xaa1f03fe, ENTRY},	 /* mov x30,xzr */
		{0x94000400, OUTERMOST}, /* bl */
	};
	/* x29 and x30 are used for something else. */
	static const struct line used[] = {
		{0xa9bf7bfd, ENTRY},	       /* stp x29,x30,[sp,#-16]! */
		{0xd280001d, SP(16, -8, -16)}, /* mov x29,#0 */
		{0xaa1f03fe, SP(16, -8, -16)}, /* mov x30,xzr */
		{0xa8c17bfd, SP(16, -8, -16)}, /* ldp x29,x30,[sp],#16 */
		{0xd65f03c0, ENTRY},	       /* ret */
	};
	/* The return address is overwritten. */
	static const struct line lost[] = {
		{0xaa0103fe, ENTRY}, /* mov x30,x1 */
		{0xd65f03c0, NONE},  /* ret */
	};
	static const struct line handler[] = {
		{0xd10043ff, NONE}, /* sub sp,sp,#16 */
		{0x910043ff, NONE}, /* add sp,sp,#16 */
		{0xd69f03e0, NONE}, /* eret */
	};
	/* A handler in several parts: the code that jumps to a part has made its frame.
	 */
	static const struct line entry[] = {
		{0xa90f7bfd, ENTRY}, /* stp x29,x30,[sp,#240] */
		{0x94000400, ENTRY}, /* bl */
		{0x14000800, NONE},  /* b */
	};
	/* A part that was moved away: the state at its start is not known. */
	static const struct line cold[] = {
		{0x94000400, NONE}, /* bl */
		{0xd65f03c0, NONE}, /* ret */
	};

	(void)state;
	CHECK(start);
	CHECK(start_without_frame);
	CHECK(used);
	CHECK(lost);
	CHECK(handler);
	CHECK(entry);
	check_part(cold, COUNT_OF(cold), CODE_PART_COLD);
}

/* A file beside this program (Makefile). */
static const char *sample_path(void)
{
	static char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 64);

	assert_true(length > 0);
	path[length] = 0;
	snprintf(strrchr(path, '/'), 64, "/cfi_sample_arm64.so");
	return path;
}

/* Checks that the calls in the code have equal rules in both tables; returns their
 * number. */
static size_t expect_calls(const struct code_range *range,
			   const struct unwind_table *table,
			   const struct unwind_table *truth)
{
	size_t calls = 0;

	for (size_t at = 0; at + 4 <= range->size; at += 4) {
		uint64_t address = range->address + OFFSET + at;
		const struct unwind_rule *wanted = unwind_table_find(truth, address);
		uint32_t word;

		memcpy(&word, range->bytes + at, sizeof(word));
		if (arm64_decode(word, address).act != ARM64_CALL || !wanted)
			continue;
		expect(unwind_table_find(table, address), wanted);
		calls++;
	}
	return calls;
}

/* By the symbols of a file that a compiler made, all calls have the rules that its call
 * frame information says. */
static void files_are_as_their_call_frame_information(void **state)
{
	struct unwind_builder *by_code = unwind_builder_new(),
			      *by_cfi = unwind_builder_new();
	struct unwind_table *table, *truth;
	struct symbols_source source;
	struct cfi_summary summary;
	size_t functions = 0, calls = 0;
	struct code code;
	struct error err;

	(void)state;
	assert_int_equal(symbols_source_open(&source, sample_path(), "it", &err), 0);
	assert_int_equal(unwind_table_add_elf_code(by_code, "it", source.data,
						   source.size, OFFSET, NULL, &functions,
						   &err),
			 0);
	assert_int_equal(unwind_table_add_cfi(by_cfi, "it", source.data, source.size,
					      OFFSET, &summary, &err),
			 0);
	assert_true(functions >= 8);
	table = unwind_builder_finish(by_code);
	truth = unwind_builder_finish(by_cfi);
	code_read(&code, source.data, source.size);
	for (size_t i = 0; i < code.count; i++)
		calls += expect_calls(&code.list[i], table, truth);
	assert_true(calls >= 10);
	code_free(&code);
	unwind_table_free(table);
	unwind_table_free(truth);
	unwind_builder_free(by_code);
	unwind_builder_free(by_cfi);
	symbols_source_close(&source);
}

/* Each instruction has a state of its own, and all are entered from each other. */
static void hostile_code_takes_bounded_time(void **state)
{
	const struct code_function all = {.start = ADDRESS};
	/* Frames, calls, and jumps to before them. */
	static const uint32_t lines[] = {
		0xa9bf7bfd, /* stp x29,x30,[sp,#-16]! */
		0xb5fff000, /* cbnz x0, back */
		0x94000001, /* bl to the next one */
		0x37fe0000, /* tbnz w0,#31, back */
		0x8b3f63ff, /* add sp,sp,xzr */
		0xd100041d, /* sub x29,x0,#1 */
		0x9400ffff, /* bl, far ahead */
	};
	size_t size = (size_t)4 << 20;
	uint8_t *code = malloc(size + 4);
	struct unwind_table *table;

	(void)state;
	assert_non_null(code);
	for (size_t i = 0; i < size; i += 4)
		memcpy(code + i, &lines[i / 4 % COUNT_OF(lines)], 4);
	table = make_table(code, size, all);
	unwind_table_free(table);
	/* Too long to be a function; too short for an instruction, or not aligned. */
	memset(code, 0, size + 4);
	table = make_table(code, size + 4, all);
	assert_int_equal(unwind_table_rows(table), 0);
	unwind_table_free(table);
	table = make_table(code, 3, all);
	assert_int_equal(unwind_table_rows(table), 0);
	unwind_table_free(table);
	table = make_table(code, 64, (struct code_function){.start = ADDRESS + 2});
	assert_int_equal(unwind_table_rows(table), 0);
	unwind_table_free(table);
	free(code);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_frames),
		cmocka_unit_test(frames_may_have_any_size),
		cmocka_unit_test(frames_need_no_known_stack_pointer),
		cmocka_unit_test(follows_jumps),
		cmocka_unit_test(code_that_no_jump_reaches_has_a_likely_state),
		cmocka_unit_test(says_where_there_is_no_caller),
		cmocka_unit_test(files_are_as_their_call_frame_information),
		cmocka_unit_test(hostile_code_takes_bounded_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

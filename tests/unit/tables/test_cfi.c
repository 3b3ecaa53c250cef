/* SPDX-License-Identifier: BSD-3-Clause */

/* Call frame information written by hand: each instruction and expression gives the rule
 * that DWARF says, and damaged or hostile entries are skipped. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/compat.h"
#include "tables/cfi/cfi.h"
#include "tests/unit/tables/test_cfi_file.h"

#define FUNCTION   (CODE + 0x100) /* of 0x100 bytes */
#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

struct frames {
	uint8_t data[4096];
	size_t size;
	size_t common; /* where the last common entry starts */
	bool is_eh;
	uint16_t machine;
};

static void put_bytes(struct frames *frames, const void *data, size_t size)
{
	assert_true(frames->size + size <= sizeof(frames->data));
	memcpy(frames->data + frames->size, data, size);
	frames->size += size;
}

static void put_number(struct frames *frames, uint64_t number, size_t size)
{
	put_bytes(frames, &number, size);
}

static void put_byte(struct frames *frames, uint8_t byte)
{
	put_bytes(frames, &byte, 1);
}

/* Sets the length of the entry that starts at @start. */
static void end_entry(struct frames *frames, size_t start)
{
	uint32_t length = (uint32_t)(frames->size - start - 4);

	memcpy(frames->data + start, &length, 4);
}

/* In .eh_frame with addresses of 32 bits, relative to their place; code factor 1, data
 * factor -8. */
static void put_common(struct frames *frames, uint8_t version, const char *letters,
		       const uint8_t *code, size_t size)
{
	size_t start = frames->size;

	frames->common = start;
	put_number(frames, 0, 4);
	put_number(frames, frames->is_eh ? 0 : UINT32_MAX, 4);
	put_byte(frames, version);
	put_bytes(frames, letters, strlen(letters) + 1);
	if (version == 4)
		put_number(frames, 8, 2);
	put_byte(frames, 1);
	put_byte(frames, 0x78);
	put_byte(frames, frames->machine == EM_AARCH64 ? 30 : 16);
	if (letters[0] == 'z') {
		put_byte(frames, strchr(letters, 'R') != NULL);
		if (strchr(letters, 'R'))
			put_byte(frames, 0x1b);
	}
	put_bytes(frames, code, size);
	end_entry(frames, start);
}

static void put_function(struct frames *frames, uint64_t at, const uint8_t *code,
			 size_t size)
{
	size_t start = frames->size;

	put_number(frames, 0, 4);
	put_number(frames, frames->is_eh ? start + 4 - frames->common : frames->common,
		   4);
	if (frames->is_eh) {
		put_number(frames, at - (FRAMES + frames->size), 4);
		put_number(frames, 0x100, 4);
		put_byte(frames, 0);
	} else {
		put_number(frames, at, 8);
		put_number(frames, 0x100, 8);
	}
	put_bytes(frames, code, size);
	end_entry(frames, start);
}

static struct unwind_table *make_table(const struct frames *frames, uint64_t offset,
				       struct cfi_summary *summary)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct unwind_table *table;
	struct error err = {{0}};
	size_t size;
	uint8_t *file = make_file(frames->machine,
				  frames->is_eh ? ".eh_frame" : ".debug_frame",
				  frames->data, frames->size, &size);

	if (unwind_table_add_cfi(builder, "file", file, size, offset, summary, &err))
		assert_string_equal(err.text, "file has no call frame information");
	table = unwind_builder_finish(builder);
	assert_non_null(table);
	unwind_builder_free(builder);
	free(file);
	return table;
}

/* CFA = rsp + 8, return address at CFA - 8. */
#define X86_START BYTES(0x0c, 7, 8, 0x90, 1)

static struct frames frames_new(uint16_t machine, bool is_eh)
{
	struct frames frames = {.is_eh = is_eh, .machine = machine};

	if (machine == EM_AARCH64) /* CFA = sp */
		put_common(&frames, 1, "zR", BYTES(0x0c, 31, 0));
	else
		put_common(&frames, is_eh ? 1 : 4, is_eh ? "zR" : "", X86_START);
	return frames;
}

struct expected {
	uint64_t at; /* in the function */
	struct unwind_rule rule;
};

#define SP(offset)                                                              \
	{                                                                       \
		UNWIND_CALLER, .cfa = (offset), .caller = -8, .fp = UNWIND_KEPT \
	}

static void expect_rule(const struct unwind_rule *found, const struct unwind_rule *rule)
{
	if (rule->kind == UNWIND_UNKNOWN) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_int_equal(found->kind, rule->kind);
	assert_int_equal(found->from_fp, rule->from_fp);
	assert_int_equal(found->from_word, rule->from_word);
	assert_int_equal(found->fp_by_register, rule->fp_by_register);
	assert_int_equal(found->word, rule->word);
	assert_int_equal(found->cfa, rule->cfa);
	assert_int_equal(found->caller, rule->caller);
	assert_int_equal(found->fp, rule->fp);
	assert_int_equal(found->other, rule->other);
}

/* The rules of a function with this code, at some of its instructions. */
static void expect_rules(const struct frames *frames, size_t count,
			 const struct expected *expected)
{
	struct cfi_summary summary;
	struct unwind_table *table = make_table(frames, 0, &summary);

	assert_int_equal(summary.damaged, 0);
	assert_int_equal(summary.functions, 1);
	for (size_t i = 0; i < count; i++)
		expect_rule(unwind_table_find(table, FUNCTION + expected[i].at),
			    &expected[i].rule);
	assert_null(unwind_table_find(table, FUNCTION - 1));
	assert_null(unwind_table_find(table, FUNCTION + 0x100));
	unwind_table_free(table);
}

#define EXPECT(frames, ...)                                                              \
	expect_rules(frames,                                                             \
		     sizeof((struct expected[]){__VA_ARGS__}) / sizeof(struct expected), \
		     (struct expected[]){__VA_ARGS__})

static void pushes_and_frame_pointers_are_followed(void **state)
{
	(void)state;
	for (int is_eh = 0; is_eh < 2; is_eh++) {
		struct frames frames = frames_new(EM_X86_64, is_eh);

		/* advance 1; def_cfa_offset 16; offset rbp 2; advance 3; def_cfa_register
		 * rbp; advance1 0x50; remember; def_cfa rsp 8; restore rbp; advance2 1;
		 * restore_state */
		put_function(&frames, FUNCTION,
			     BYTES(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x50,
				   0x0a, 0x0c, 7, 8, 0xc6, 0x03, 1, 0, 0x0b));
		EXPECT(&frames, {0, SP(8)},
		       {1, {UNWIND_CALLER, .cfa = 16, .caller = -8, .fp = -16}},
		       {4, {UNWIND_CALLER, true, .cfa = 16, .caller = -8, .fp = -16}},
		       {0x54, SP(8)},
		       {0x55, {UNWIND_CALLER, true, .cfa = 16, .caller = -8, .fp = -16}},
		       {0xff, {UNWIND_CALLER, true, .cfa = 16, .caller = -8, .fp = -16}});
	}
}

static void long_and_signed_forms_are_read(void **state)
{
	struct frames frames = frames_new(EM_X86_64, true);

	(void)state;
	/* offset_extended rbp 3; def_cfa_sf rsp -3; advance4 16; offset_extended_sf rbp
	 * 4; def_cfa_offset_sf -4; advance4 16; same_value rbp; GNU_args_size 8; nop;
	 * advance 1; undefined rbp; advance 1; register rbp rbx */
	put_function(&frames, FUNCTION,
		     BYTES(0x05, 6, 3, 0x12, 7, 0x7d, 0x04, 16, 0, 0, 0, 0x11, 6, 4, 0x13,
			   0x7c, 0x04, 16, 0, 0, 0, 0x08, 6, 0x2e, 8, 0, 0x41, 0x07, 6,
			   0x41, 0x09, 6, 3));
	EXPECT(&frames, {0, {UNWIND_CALLER, .cfa = 24, .caller = -8, .fp = -24}},
	       {16, {UNWIND_CALLER, .cfa = 32, .caller = -8, .fp = -32}}, {32, SP(32)},
	       {33, {UNWIND_CALLER, .cfa = 32, .caller = -8, .fp = UNWIND_LOST}},
	       {34, {UNWIND_CALLER, .cfa = 32, .caller = -8, .fp = UNWIND_LOST}});
}

/* GCC's realigned stack: expression rbp: rbp + 0; CFA: *(rbp - 8). And *(rsp + 16) + 8,
 * as in OpenSSL. */
static void realigned_stacks_are_expressed(void **state)
{
	struct frames frames = frames_new(EM_X86_64, true);

	(void)state;
	put_function(&frames, FUNCTION,
		     BYTES(0x0c, 10, 0, 0x41, 0x10, 6, 2, 0x76, 0, 0x0f, 3, 0x76, 0x78,
			   0x06, 0x41, 0x0f, 5, 0x77, 16, 0x06, 0x23, 8, 0x86, 2));
	EXPECT(&frames,
	       {0, {UNWIND_CALLER, .caller = -8, .fp = UNWIND_KEPT, .other = 11}},
	       {1,
		{UNWIND_CALLER, true, true, true, .word = -8, .cfa = 0, .caller = -8,
		 .fp = 0}},
	       {2,
		{UNWIND_CALLER, false, true, false, .word = 16, .cfa = 8, .caller = -8,
		 .fp = -16}});
}

/* rsp + 8 + ((rip & 15) >= 11) * 8 */
static void linkage_tables_have_two_rules_for_each_entry(void **state)
{
	struct frames frames = frames_new(EM_X86_64, true);

	(void)state;
	put_function(&frames, FUNCTION,
		     BYTES(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24,
			   0x22));
	EXPECT(&frames, {0, SP(8)}, {10, SP(8)}, {11, SP(16)}, {15, SP(16)}, {16, SP(8)},
	       {0xfa, SP(8)}, {0xff, SP(16)});
}

static void other_expressions_have_no_rule(void **state)
{
	static const uint8_t expressions[][6] = {
		{0x80, 0x11, 0},	  /* rip */
		{0x77, 8, 0x06, 0x06},	  /* **(rsp + 8) */
		{0x77, 8, 0x77, 8, 0x22}, /* rsp + rsp */
		{0x30, 0x30, 0x22},	  /* a number */
		{0x22},			  /* too few operands */
		{0xe0},			  /* none of DWARF's */
	};
	static const size_t sizes[] = {2, 4, 5, 3, 1, 1};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct frames frames = frames_new(EM_X86_64, true);
		uint8_t code[8] = {0x0f, (uint8_t)sizes[i]};

		memcpy(code + 2, expressions[i], sizes[i]);
		put_function(&frames, FUNCTION, code, 2 + sizes[i]);
		EXPECT(&frames, {0, {.kind = UNWIND_UNKNOWN}},
		       {0xff, {.kind = UNWIND_UNKNOWN}});
	}
}

static void an_undefined_return_address_is_the_end(void **state)
{
	struct frames frames = frames_new(EM_X86_64, true);

	(void)state;
	put_function(&frames, FUNCTION, BYTES(0x07, 16));
	EXPECT(&frames, {0, {.kind = UNWIND_OUTERMOST}});
}

/* glibc's __restore_rt: the registers are in the ucontext above rsp. */
static void signal_frames_interrupt(void **state)
{
	struct frames frames = {.is_eh = true, .machine = EM_X86_64};

	(void)state;
	put_common(&frames, 1, "zRS", BYTES(0));
	put_function(&frames, FUNCTION,
		     BYTES(0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 6, 3, 0x77, 0xf8, 0, 0x10,
			   16, 3, 0x77, 0xa8, 1));
	EXPECT(&frames,
	       {0,
		{UNWIND_INTERRUPTED, .cfa = 0, .word = 160, .caller = 168, .fp = 120}});
}

/* An interrupt's entry: def_cfa rsp 40; offset rip 5; offset rsp 2. */
static void interrupts_are_expressed_by_the_cfa(void **state)
{
	struct frames frames = {.is_eh = true, .machine = EM_X86_64};

	(void)state;
	put_common(&frames, 1, "zRS", BYTES(0));
	put_function(&frames, FUNCTION, BYTES(0x0c, 7, 40, 0x90, 5, 0x87, 2));
	EXPECT(&frames, {0,
			 {UNWIND_INTERRUPTED, .cfa = 40, .word = -16, .caller = -40,
			  .fp = UNWIND_KEPT}});
}

static void arm64_keeps_its_caller_in_the_link_register(void **state)
{
	struct frames frames = frames_new(EM_AARCH64, true);

	(void)state;
	/* negate_ra_state; advance 4; def_cfa_offset 32; offset x29 4; offset x30 3;
	 * advance 4; def_cfa_register x29 */
	put_function(&frames, FUNCTION,
		     BYTES(0x2d, 0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x44, 0x0d, 29));
	EXPECT(&frames, {0, {UNWIND_CALLER, .caller = UNWIND_KEPT, .fp = UNWIND_KEPT}},
	       {4, {UNWIND_CALLER, .cfa = 32, .caller = -24, .fp = -32}},
	       {8, {UNWIND_CALLER, true, .cfa = 32, .caller = -24, .fp = -32}});
}

static void offsets_move_all_rules(void **state)
{
	struct frames frames = frames_new(EM_X86_64, true);
	const struct unwind_rule rule = SP(8);
	struct cfi_summary summary;
	struct unwind_table *table;

	(void)state;
	put_function(&frames, FUNCTION, BYTES(0));
	table = make_table(&frames, 0xffffffff80000000, &summary);
	assert_null(unwind_table_find(table, FUNCTION));
	expect_rule(unwind_table_find(table, 0xffffffff80000000 + FUNCTION), &rule);
	unwind_table_free(table);
	table = make_table(&frames, (uint64_t)0 - 0x1000, &summary);
	expect_rule(unwind_table_find(table, FUNCTION - 0x1000), &rule);
	unwind_table_free(table);
}

/* Damage in one function, with others before and after it. */
static void damaged_functions_are_skipped(void **state)
{
	static const uint8_t damages[][4] = {
		{0x3f},	      /* no instruction */
		{0x0b},	      /* restores a state that was not remembered */
		{0x0e, 0x80}, /* cut off */
		{0x0f, 200},  /* an expression longer than the entry */
		{0x02},	      /* cut off */
	};
	static const size_t sizes[] = {1, 1, 2, 2, 1};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct frames frames = frames_new(EM_X86_64, true);
		const struct unwind_rule rule = SP(8);
		struct cfi_summary summary;
		struct unwind_table *table;

		put_function(&frames, FUNCTION - 0x100, BYTES(0));
		put_function(&frames, FUNCTION, damages[i], sizes[i]);
		put_function(&frames, FUNCTION + 0x100, BYTES(0));
		table = make_table(&frames, 0, &summary);
		assert_int_equal(summary.damaged, 1);
		expect_rule(unwind_table_find(table, FUNCTION - 1), &rule);
		assert_null(unwind_table_find(table, FUNCTION));
		expect_rule(unwind_table_find(table, FUNCTION + 0x100), &rule);
		unwind_table_free(table);
	}
}

static void damaged_sections_have_no_rules(void **state)
{
	struct frames frames = frames_new(EM_X86_64, true);
	size_t common;

	(void)state;
	common = frames.size;
	put_function(&frames, FUNCTION, BYTES(0x41, 0x0e, 16));
	for (size_t size = 1; size < frames.size; size++) {
		struct frames cut = frames;
		struct cfi_summary summary;
		struct unwind_table *table;

		cut.size = size;
		table = make_table(&cut, 0, &summary);
		assert_int_equal(unwind_table_rows(table), 0);
		assert_true(summary.damaged == 1 || size < 4 || size == common ||
			    (size > common && size < common + 4));
		unwind_table_free(table);
	}
}

/* Linkers join sections that end with an entry of length 0. */
static void ends_in_the_middle_are_passed_over(void **state)
{
	struct frames frames = {.is_eh = true, .machine = EM_X86_64};

	(void)state;
	put_number(&frames, 0, 4);
	put_common(&frames, 1, "zR", X86_START);
	put_number(&frames, 0, 8);
	put_function(&frames, FUNCTION, BYTES(0));
	put_number(&frames, 0, 6);
	EXPECT(&frames, {0, SP(8)});
}

/* Left behind by linkers, or hostile. */
static void functions_outside_of_code_are_ignored(void **state)
{
	static const uint64_t places[] = {0, CODE - 0x80, CODE + CODE_SIZE - 0x80,
					  CODE + CODE_SIZE};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct frames frames = frames_new(EM_X86_64, false);
		struct cfi_summary summary;
		struct unwind_table *table;

		put_function(&frames, places[i], BYTES(0));
		table = make_table(&frames, 0, &summary);
		assert_int_equal(unwind_table_rows(table), 0);
		assert_int_equal(summary.functions, 0);
		assert_int_equal(summary.damaged, 0);
		unwind_table_free(table);
	}
}

static void expect_refused(const uint8_t *file, size_t size, const char *why)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct cfi_summary summary;
	struct error err = {{0}};

	assert_int_equal(
		unwind_table_add_cfi(builder, "file", file, size, 0, &summary, &err), -1);
	assert_string_equal(err.text, why);
	unwind_builder_free(builder);
}

static void other_files_are_refused(void **state)
{
	struct frames frames = frames_new(EM_X86_64, true);
	Elf64_Ehdr *header;
	uint8_t *file;
	size_t size;

	(void)state;
	put_function(&frames, FUNCTION, BYTES(0));
	file = make_file(EM_RISCV, ".eh_frame", frames.data, frames.size, &size);
	expect_refused(file, size, "file is not for x86-64 or little-endian AArch64");
	header = (Elf64_Ehdr *)file;
	header->e_type = ET_CORE;
	expect_refused(file, size,
		       "file is a core file, which has no function symbols; use the "
		       "program that it came from");
	free(file);
	file = make_file(EM_X86_64, ".eh_frame", frames.data, 0, &size);
	expect_refused(file, size, "file has no call frame information");
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushes_and_frame_pointers_are_followed),
		cmocka_unit_test(long_and_signed_forms_are_read),
		cmocka_unit_test(realigned_stacks_are_expressed),
		cmocka_unit_test(linkage_tables_have_two_rules_for_each_entry),
		cmocka_unit_test(other_expressions_have_no_rule),
		cmocka_unit_test(an_undefined_return_address_is_the_end),
		cmocka_unit_test(signal_frames_interrupt),
		cmocka_unit_test(interrupts_are_expressed_by_the_cfa),
		cmocka_unit_test(arm64_keeps_its_caller_in_the_link_register),
		cmocka_unit_test(offsets_move_all_rules),
		cmocka_unit_test(damaged_functions_are_skipped),
		cmocka_unit_test(damaged_sections_have_no_rules),
		cmocka_unit_test(ends_in_the_middle_are_passed_over),
		cmocka_unit_test(functions_outside_of_code_are_ignored),
		cmocka_unit_test(other_files_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

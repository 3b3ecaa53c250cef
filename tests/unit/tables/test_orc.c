/* SPDX-License-Identifier: BSD-3-Clause */

/* ORC written by hand: each kind of row gives the rule that Linux' own unwinder follows,
 * in the three layouts that there were. The lab compares all rows of a real kernel. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tables/orc.h"
#include "tests/unit/tables/test_cfi_file.h"

#define IPS	 0xa00000
#define CALLS	 8 /* rows before the others, so that the layout is known */
#define ROWS	 16
#define ENTRIES	 0x9000
#define CALLED	 0xa000
#define THUNKS	 0x7ff8
#define PLACE(i) (CODE + 0x100 * (uint64_t)(i))

/* Registers and, as they are since Linux 6.4, kinds of frames. */
enum {
	UNDEFINED,
	PREV_SP,
	DX,
	DI,
	BP,
	SP,
	R10,
	R13,
	BP_INDIRECT,
	SP_INDIRECT,
};
enum {
	UNKNOWN,
	OUTERMOST,
	CALL,
	REGS,
	PARTIAL,
};
#define SIGNAL 8

static const struct layout {
	const char *name;
	uint8_t kind[5];
} layouts[] = {
	{"4.14", {0, 4, 0, 1, 2}},
	{"6.3", {0, 8, 0, 1 | 4, 2 | 4}},
	{"6.4", {UNKNOWN, OUTERMOST, CALL, REGS | SIGNAL, PARTIAL | SIGNAL}},
};

/* The thunk of a retpoline for rax, after some padding. */
static const uint8_t thunks[] = {
	0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, /* */
	0xe8, 0x07, 0x00, 0x00, 0x00,			/* call 2f */
	0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9,	/* 1: pause; lfence; jmp 1b */
	0x48, 0x89, 0x04, 0x24, 0xc3,			/* 2: mov %rax,(%rsp); ret */
	0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc};

/* Entries: endbr64; pop %rcx; pop %r11; jmp 1f. 1: swapgs; push %rax; ... push %r15 */
static const uint8_t entries[] = {
	0xf3, 0x0f, 0x1e, 0xfa, 0x59, 0x41, 0x5b, 0xeb, 0x00, /* */
	0x0f, 0x01, 0xf8,				      /* */
	0x50, 0x57, 0x56, 0x52, 0x51, 0x6a, 0xda, 0x41, 0x50, 0x41, 0x51, 0x41, 0x52,
	0x41, 0x53, 0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57};

/* The entry of a system call, and the end of one, which begins at CALL_END. */
#define CALL_END 63
static const uint8_t system_calls[] = {
	0x0f, 0x01, 0xf8,				      /* swapgs */
	0x65, 0x48, 0x89, 0x24, 0x25, 0x14, 0x60, 0x00, 0x00, /* mov %rsp,%gs:n */
	0xeb, 0x00,					      /* jmp 1f */
	0x65, 0x48, 0x8b, 0x24, 0x25, 0x50, 0xfb, 0x01, 0x00, /* 1: mov %gs:n,%rsp */
	0x6a, 0x2b,					      /* push */
	0x65, 0xff, 0x34, 0x25, 0x14, 0x60, 0x00, 0x00,	      /* push %gs:n */
	0x41, 0x53, 0x6a, 0x33, 0x51,			      /* push: r11, rcx */
	0x50, 0x57, 0x56, 0x52, 0x51, 0x6a, 0xda, 0x41, 0x50, 0x41, 0x51, 0x41, 0x52,
	0x41, 0x53, 0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57,
	/* pop %rax; pop %rdi; pop %rsp; swapgs; verw; sysretq */
	0x58, 0x5f, 0x5c, 0x0f, 0x01, 0xf8, 0x0f, 0x00, 0x2d, 0x19, 0xfe, 0xff, 0xff,
	0x48, 0x0f, 0x07};

struct orc {
	uint8_t ips[4 * (CALLS + ROWS)], rows[6 * (CALLS + ROWS)];
	size_t count;
};

static void put_row(struct orc *orc, uint64_t address, int16_t sp_offset,
		    int16_t bp_offset, unsigned int sp, unsigned int bp,
		    unsigned int kind)
{
	int32_t distance = (int32_t)(address - (IPS + 4 * orc->count));
	uint16_t bits = (uint16_t)(sp | bp << 4 | kind << 8);
	uint8_t *row = orc->rows + 6 * orc->count;

	memcpy(orc->ips + 4 * orc->count, &distance, 4);
	memcpy(row, &sp_offset, 2);
	memcpy(row + 2, &bp_offset, 2);
	memcpy(row + 4, &bits, 2);
	orc->count++;
}

/* Functions with frames of calls. */
static struct orc orc_new(const struct layout *layout)
{
	struct orc orc = {.count = 0};

	for (unsigned int i = 0; i < CALLS; i++)
		put_row(&orc, PLACE(i), 8, 0, SP, UNDEFINED, layout->kind[CALL]);
	return orc;
}

static struct unwind_builder *read_orc(const struct orc *orc, uint64_t offset,
				       uint64_t hypercalls, int status)
{
	const struct file_section sections[] = {
		{".orc_unwind_ip", IPS, orc->ips, 4 * orc->count, false},
		{".orc_unwind", 0, orc->rows, 6 * orc->count, false},
		{".thunks", THUNKS, thunks, sizeof(thunks), true},
		{".entries", ENTRIES, entries, sizeof(entries), true},
		{".calls", CALLED, system_calls, sizeof(system_calls), true},
	};
	struct unwind_builder *builder = unwind_builder_new();
	struct error err = {{0}};
	size_t size, rows;
	uint8_t *file = make_elf(EM_X86_64, sections, 5, &size);

	assert_int_equal(unwind_table_add_orc(builder, "file", file, size, offset,
					      hypercalls, &rows, &err),
			 status);
	assert_int_equal(rows, orc->count);
	free(file);
	return builder;
}

static struct unwind_table *make_table(const struct orc *orc, uint64_t offset,
				       uint64_t hypercalls)
{
	struct unwind_builder *builder = read_orc(orc, offset, hypercalls, 0);
	struct unwind_table *table = unwind_builder_finish(builder);

	assert_non_null(table);
	unwind_builder_free(builder);
	return table;
}

/* The rule that one row gives, after rows of calls. */
static struct unwind_rule one(const struct layout *layout, int16_t sp_offset,
			      int16_t bp_offset, unsigned int sp, unsigned int bp,
			      unsigned int kind)
{
	struct orc orc = orc_new(layout);
	struct unwind_rule rule = {.kind = UNWIND_UNKNOWN};
	const struct unwind_rule *found;
	struct unwind_table *table;

	put_row(&orc, PLACE(CALLS), sp_offset, bp_offset, sp, bp, layout->kind[kind]);
	put_row(&orc, PLACE(CALLS) + 0x10, 0, 0, UNDEFINED, UNDEFINED,
		layout->kind[UNKNOWN]);
	table = make_table(&orc, 0, 0);
	found = unwind_table_find(table, PLACE(CALLS));
	assert_ptr_equal(found, unwind_table_find(table, PLACE(CALLS) + 0xf));
	assert_null(unwind_table_find(table, PLACE(CALLS) + 0x10));
	if (found)
		rule = *found;
	unwind_table_free(table);
	return rule;
}

static void expect(struct unwind_rule rule, struct unwind_rule wanted)
{
	assert_int_equal(rule.kind, wanted.kind);
	assert_int_equal(rule.from_fp, wanted.from_fp);
	assert_int_equal(rule.from_word, wanted.from_word);
	assert_int_equal(rule.fp_by_register, wanted.fp_by_register);
	assert_int_equal(rule.word, wanted.word);
	assert_int_equal(rule.cfa, wanted.cfa);
	assert_int_equal(rule.caller, wanted.caller);
	assert_int_equal(rule.fp, wanted.fp);
	assert_int_equal(rule.other, wanted.other);
}

static void frames_of_calls_have_their_callers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const struct layout *layout = &layouts[i];
		struct unwind_rule rule = {
			.kind = UNWIND_CALLER, .caller = -8, .fp = UNWIND_KEPT};

		rule.cfa = 24;
		expect(one(layout, 24, 0, SP, UNDEFINED, CALL), rule);
		rule.fp = -16;
		expect(one(layout, 24, -16, SP, PREV_SP, CALL), rule);
		rule.from_fp = true;
		rule.cfa = 16;
		expect(one(layout, 16, -16, BP, PREV_SP, CALL), rule);
		/* An aligned stack: the CFA is in the word before the saved rbp. */
		expect(one(layout, -8, 0, BP_INDIRECT, BP, CALL),
		       (struct unwind_rule){.kind = UNWIND_CALLER,
					    .from_fp = true,
					    .from_word = true,
					    .fp_by_register = true,
					    .word = -8,
					    .caller = -8});
		/* The other stack's pointer is at the top of this one. */
		expect(one(layout, 16, 0, SP_INDIRECT, UNDEFINED, CALL),
		       (struct unwind_rule){.kind = UNWIND_CALLER,
					    .from_word = true,
					    .cfa = 16,
					    .caller = -8,
					    .fp = UNWIND_KEPT});
		expect(one(layout, 0, 0, R10, UNDEFINED, CALL),
		       (struct unwind_rule){.kind = UNWIND_CALLER,
					    .other = 11,
					    .caller = -8,
					    .fp = UNWIND_KEPT});
		expect(one(layout, 0, 0, R13, BP, CALL),
		       (struct unwind_rule){.kind = UNWIND_CALLER,
					    .other = 14,
					    .caller = -8,
					    .fp = UNWIND_LOST});
	}
}

static void entries_lead_to_what_they_interrupted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const struct layout *layout = &layouts[i];

		expect(one(layout, 8, 0, SP, UNDEFINED, REGS),
		       (struct unwind_rule){.kind = UNWIND_INTERRUPTED,
					    .cfa = 8,
					    .word = 152,
					    .caller = 128,
					    .fp = 32});
		expect(one(layout, -16, 0, BP, UNDEFINED, PARTIAL),
		       (struct unwind_rule){.kind = UNWIND_INTERRUPTED,
					    .from_fp = true,
					    .cfa = -16,
					    .word = 24,
					    .fp = UNWIND_KEPT});
		expect(one(layout, 0, 0, DX, UNDEFINED, PARTIAL),
		       (struct unwind_rule){.kind = UNWIND_UNKNOWN});
		expect(one(layout, 0, 0, UNDEFINED, UNDEFINED, OUTERMOST),
		       (struct unwind_rule){.kind = UNWIND_OUTERMOST});
		expect(one(layout, 0, 0, UNDEFINED, UNDEFINED, UNKNOWN),
		       (struct unwind_rule){.kind = UNWIND_UNKNOWN});
		expect(one(layout, 0, 0, 15, UNDEFINED, CALL),
		       (struct unwind_rule){.kind = UNWIND_UNKNOWN});
	}
}

/* Before Linux 5.6, rows are not sorted in the file: each object file's rows end with one
 * without a rule, which may be where another file's rows begin. */
static void rows_need_not_be_sorted(void **state)
{
	struct orc orc = orc_new(&layouts[0]);
	struct unwind_table *table;

	(void)state;
	put_row(&orc, PLACE(0x30), 32, 0, SP, UNDEFINED, 0);
	put_row(&orc, PLACE(0x40), 0, 0, UNDEFINED, UNDEFINED, 0);
	put_row(&orc, PLACE(0x20), 16, 0, SP, UNDEFINED, 0);
	put_row(&orc, PLACE(0x30), 0, 0, UNDEFINED, UNDEFINED, 0);
	table = make_table(&orc, 0, 0);
	assert_int_equal(unwind_table_find(table, PLACE(CALLS) - 1)->cfa, 8);
	assert_int_equal(unwind_table_find(table, PLACE(0x30) - 1)->cfa, 16);
	assert_int_equal(unwind_table_find(table, PLACE(0x30))->cfa, 32);
	assert_int_equal(unwind_table_find(table, PLACE(0x40) - 1)->cfa, 32);
	assert_null(unwind_table_find(table, PLACE(0x40)));
	unwind_table_free(table);
}

static void hypercalls_are_left_out(void **state)
{
	static const uint64_t offsets[] = {0, 0xffffffff80000000};
	struct orc orc = orc_new(&layouts[2]);

	(void)state;
	put_row(&orc, PLACE(0x50), 0, 0, UNDEFINED, UNDEFINED, UNKNOWN);
	for (size_t i = 0; i < 2; i++) {
		uint64_t offset = offsets[i];
		struct unwind_table *table = make_table(&orc, offset, PLACE(0x10));

		assert_non_null(unwind_table_find(table, PLACE(0x10) - 1 + offset));
		assert_null(unwind_table_find(table, PLACE(0x10) + offset));
		assert_null(unwind_table_find(table, PLACE(0x20) - 1 + offset));
		assert_non_null(unwind_table_find(table, PLACE(0x20) + offset));
		assert_non_null(unwind_table_find(table, PLACE(0x50) - 1 + offset));
		unwind_table_free(table);
	}
}

/* The kernel's rows say that retpolines have no caller. */
static void retpolines_have_callers(void **state)
{
	const uint64_t thunk = THUNKS + 8;
	struct orc orc = orc_new(&layouts[0]);
	struct unwind_table *table;

	(void)state;
	put_row(&orc, thunk, 0, 0, UNDEFINED, UNDEFINED, layouts[0].kind[OUTERMOST]);
	put_row(&orc, thunk + 16, 8, 0, SP, UNDEFINED, layouts[0].kind[CALL]);
	put_row(&orc, thunk + 17, 0, 0, UNDEFINED, UNDEFINED, 0);
	table = make_table(&orc, 0x10000, 0);
	for (uint64_t i = 0; i < 17; i++) {
		const struct unwind_rule *rule = unwind_table_find(table,
								   thunk + 0x10000 + i);

		assert_non_null(rule);
		if (i >= 5 && i < 12)
			assert_int_equal(rule->kind, UNWIND_OUTERMOST);
		else
			assert_int_equal(rule->cfa, i >= 12 && i < 16 ? 16 : 8);
	}
	unwind_table_free(table);
}

/* The interrupted code is known at each instruction of an entry. */
static void entries_lead_on_before_all_is_saved(void **state)
{
	static const int32_t saved[] = {16, 16,	 16,  16,  16,	8,   8,	 0,  0,	 -1,
					-1, -1,	 0,   8,   16,	24,  32, 40, 40, 48,
					48, 56,	 56,  64,  64,	72,  72, 80, 88, 96,
					96, 104, 104, 112, 112, 120, 120};
	struct orc orc = orc_new(&layouts[0]);
	struct unwind_table *table;

	(void)state;
	assert_int_equal(sizeof(saved) / sizeof(saved[0]), sizeof(entries));
	put_row(&orc, ENTRIES, 0, 0, UNDEFINED, UNDEFINED, layouts[0].kind[OUTERMOST]);
	put_row(&orc, ENTRIES + 9, 0, 0, UNDEFINED, UNDEFINED, 0);
	put_row(&orc, ENTRIES + 9, 0, 0, UNDEFINED, UNDEFINED,
		layouts[0].kind[OUTERMOST]);
	put_row(&orc, ENTRIES + sizeof(entries), 0, 0, SP, UNDEFINED,
		layouts[0].kind[REGS]);
	put_row(&orc, ENTRIES + 0x100, 0, 0, UNDEFINED, UNDEFINED, 0);
	table = make_table(&orc, 0, 0);
	for (size_t i = 0; i < sizeof(entries); i++) {
		const struct unwind_rule *rule = unwind_table_find(table, ENTRIES + i);

		assert_non_null(rule);
		if (saved[i] < 0)
			assert_int_equal(rule->kind, UNWIND_OUTERMOST);
		else
			expect(*rule, (struct unwind_rule){.kind = UNWIND_INTERRUPTED,
							   .cfa = saved[i],
							   .word = 24,
							   .fp = UNWIND_KEPT});
	}
	unwind_table_free(table);
}

/* Before the registers are saved, and after they are restored, rcx has the program's
 * address. */
static void system_calls_lead_on_from_their_ends(void **state)
{
	static const struct {
		size_t size;
		int32_t word;
	} parts[] = {
		{23, UNWIND_KEPT}, {10, UNWIND_LOST}, {2, 0}, {2, 8}, {1, 16},
		{25, -1},	   {1, 16},	      {1, 8}, {1, 0}, {13, UNWIND_KEPT},
	};
	struct orc orc = orc_new(&layouts[0]);
	struct unwind_table *table;
	uint64_t at = CALLED;

	(void)state;
	put_row(&orc, CALLED, 0, 0, UNDEFINED, UNDEFINED, layouts[0].kind[OUTERMOST]);
	put_row(&orc, CALLED + CALL_END, 0, 0, UNDEFINED, UNDEFINED, 0);
	put_row(&orc, CALLED + CALL_END, 0, 0, UNDEFINED, UNDEFINED,
		layouts[0].kind[OUTERMOST]);
	put_row(&orc, CALLED + sizeof(system_calls), 0, 0, UNDEFINED, UNDEFINED, 0);
	table = make_table(&orc, 0, 0);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		for (size_t j = 0; j < parts[i].size; j++, at++) {
			const struct unwind_rule *rule = unwind_table_find(table, at);

			assert_non_null(rule);
			if (i == 5)
				assert_int_equal(rule->kind, UNWIND_INTERRUPTED);
			else
				expect(*rule,
				       (struct unwind_rule){.kind = UNWIND_CALLED_SYSTEM,
							    .other = 2,
							    .word = parts[i].word,
							    .fp = UNWIND_KEPT});
		}
	assert_int_equal(at, CALLED + sizeof(system_calls));
	unwind_table_free(table);
}

static void sections_of_different_lengths_are_refused(void **state)
{
	const struct orc orc = orc_new(&layouts[0]);
	const struct file_section sections[] = {
		{".orc_unwind_ip", IPS, orc.ips, 4 * orc.count, false},
		{".orc_unwind", 0, orc.rows, 6 * orc.count - 6, false},
	};
	struct unwind_builder *builder = unwind_builder_new();
	struct error err = {{0}};
	size_t size, rows;

	(void)state;
	for (size_t i = 1; i <= 2; i++) {
		uint8_t *file = make_elf(EM_X86_64, sections, i, &size);
		int status = unwind_table_add_orc(builder, "file", file, size, 0, 0,
						  &rows, &err);

		assert_int_equal(status, i == 1 ? 0 : -1);
		assert_int_equal(rows, 0);
		free(file);
	}
	assert_string_equal(err.text,
			    "file is damaged: its ORC sections have 8 and 7 rows");
	unwind_builder_free(builder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_calls_have_their_callers),
		cmocka_unit_test(entries_lead_to_what_they_interrupted),
		cmocka_unit_test(rows_need_not_be_sorted),
		cmocka_unit_test(hypercalls_are_left_out),
		cmocka_unit_test(retpolines_have_callers),
		cmocka_unit_test(entries_lead_on_before_all_is_saved),
		cmocka_unit_test(system_calls_lead_on_from_their_ends),
		cmocka_unit_test(sections_of_different_lengths_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */

/* A Linux kernel's ORC in a made-up guest's memory; the lab has real ones. */

#include <stdio.h>

#include "base/clock.h"
#include "record/linux/kernel_orc.h"
#include "tables/orc.h"
#include "tests/unit/arch/test_x86.h"
#include "tests/unit/record/test_kernel_names.h"

#define TEXT	 0xffffffff9a000000u /* moved by KASLR */
#define IPS	 (TEXT + 0x1c5f474)
#define ROWS	 20000 /* several pages of both tables, and several slices */
#define DISTANCE 64    /* of code, to the next row */
#define LOOKS	 100   /* more than any search takes */
#define SYMBOLS	 9
#define TABLES	 5 /* symbols of the start and of the tables, which must fit */
#define THUNKS	 (TEXT + 2 * ROWS * DISTANCE)

static const char *const names[SYMBOLS] = {
	"t_text",
	"r__start_orc_unwind_ip",
	"r__stop_orc_unwind_ip",
	"d__start_orc_unwind",
	"D__stop_orc_unwind",
	"t__entry_text_start",
	"t__entry_text_end",
	"t__indirect_thunk_start",
	"t__indirect_thunk_end",
};

/* call 12; pause; lfence; jmp; mov %rax,(%rsp); ret (Linux, arch/x86/lib/retpoline.S) */
static const uint8_t thunk[32] = {0xe8, 0x07, 0x00, 0x00, 0x00, 0xf3, 0x90, 0x0f, 0xae,
				  0xe8, 0xeb, 0xf9, 0x48, 0x89, 0x04, 0x24, 0xc3};

/* A guest, and what is known of its names. */
struct kernel {
	struct guest *guest;
	struct kallsyms *kallsyms;
	uint64_t address[SYMBOLS];
	struct kernel_orc orc;
};

/* Rows of functions whose frames have 8 bytes more than the one before, in turns. */
static void kernel_start(struct kernel *kernel)
{
	const uint64_t rows = IPS + ROWS * ORC_IP_SIZE + 20;

	*kernel = (struct kernel){
		.guest = guest_new(&mode_4_level),
		.address = {TEXT, IPS, IPS + ROWS * ORC_IP_SIZE, rows,
			    rows + ROWS * ORC_ROW_SIZE, TEXT, TEXT + 0x2000, THUNKS,
			    THUNKS + sizeof(thunk)},
	};
	for (uint64_t i = 0; i < ROWS; i++) {
		uint64_t at = IPS + i * ORC_IP_SIZE;
		int32_t distance = (int32_t)(TEXT + i * DISTANCE - at);
		const uint16_t row[] = {(uint16_t)(8 + 8 * (i % 16)), 0, 5 | 2 << 8};

		put_bytes(kernel->guest, at, &distance, sizeof(distance));
		put_bytes(kernel->guest, rows + i * ORC_ROW_SIZE, row, sizeof(row));
	}
	put_bytes(kernel->guest, TEXT, (const uint8_t[0x2000]){0}, 0x2000);
	put_bytes(kernel->guest, THUNKS, thunk, sizeof(thunk));
	kernel->kallsyms = make_names(names, kernel->address, SYMBOLS, TEXT, false);
}

static void kernel_end(struct kernel *kernel)
{
	kernel_orc_free(&kernel->orc);
	kallsyms_free(kernel->kallsyms);
	free(kernel->guest);
}

/* Looks until there is a table, or nothing is due any more. */
static bool search(struct kernel *kernel)
{
	const struct cpu cpu = {.family = CPU_FAMILY_X86, .x86 = kernel->guest->cpu};
	uint64_t now = NS_PER_S;

	kernel_orc_find(&kernel->orc, kernel->kallsyms);
	for (int i = 0; i < LOOKS && kernel_copy_is_due(&kernel->orc.copy, now); i++) {
		if (kernel_orc_look(&kernel->orc, &cpu, &kernel->guest->memory, now))
			return true;
		assert_null(kernel->orc.table);
		now += 10 * NS_PER_S;
	}
	assert_false(kernel_copy_is_due(&kernel->orc.copy, now));
	return false;
}

static void rules_are_those_of_the_kernel(void **state)
{
	struct kernel kernel;

	(void)state;
	kernel_start(&kernel);
	assert_true(search(&kernel));
	for (uint64_t i = 0; i < ROWS - 1; i++) {
		const struct unwind_rule *rule = unwind_table_find(
			kernel.orc.table, TEXT + i * DISTANCE + i % DISTANCE);

		assert_non_null(rule);
		assert_int_equal(rule->kind, UNWIND_CALLER);
		assert_int_equal(rule->cfa, 8 + 8 * (i % 16));
		assert_false(rule->is_guess);
	}
	assert_null(unwind_table_find(kernel.orc.table, TEXT - 1));
	assert_int_equal(unwind_table_find(kernel.orc.table, THUNKS)->cfa, 8);
	assert_int_equal(unwind_table_find(kernel.orc.table, THUNKS + 12)->cfa, 16);
	/* They are read once. */
	kernel_orc_find(&kernel.orc, kernel.kallsyms);
	assert_int_equal(kernel.orc.copy.size, 0);
	kernel_end(&kernel);
}

/* Names that are missing, or tables that do not fit each other. */
static void other_names_begin_no_search(void **state)
{
	(void)state;
	for (unsigned int i = 1; i < TABLES; i++) {
		struct kernel kernel;

		kernel_start(&kernel);
		kernel.kallsyms->offset[i] += 4;
		assert_false(search(&kernel));
		kernel.kallsyms->offset[i] = (uint32_t)-1;
		assert_false(search(&kernel));
		kernel_end(&kernel);
	}
}

static void a_missing_page_ends_the_search(void **state)
{
	struct kernel kernel;

	(void)state;
	kernel_start(&kernel);
	set_entry(kernel.guest, entry_of(kernel.guest, IPS + 2 * GUEST_PAGE_SIZE, 3), 0);
	assert_false(search(&kernel));
	assert_null(kernel.orc.copy.bytes);
	kernel_end(&kernel);
}

/* Whatever the tables contain, the table can be used. */
static void damaged_tables_are_safe(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (unsigned int round = 0; round < 20; round++) {
		struct kernel kernel;

		kernel_start(&kernel);
		for (uint64_t at = IPS; at < kernel.address[4]; at++)
			if (random_next(&seed) % (1 + round) == 0)
				*guest_byte(kernel.guest,
					    at) = (uint8_t)random_next(&seed);
		if (search(&kernel))
			for (unsigned int i = 0; i < 1000; i++)
				unwind_table_find(kernel.orc.table,
						  TEXT + random_next(&seed) % 0x1000000);
		kernel_end(&kernel);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_those_of_the_kernel),
		cmocka_unit_test(other_names_begin_no_search),
		cmocka_unit_test(a_missing_page_ends_the_search),
		cmocka_unit_test(damaged_tables_are_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

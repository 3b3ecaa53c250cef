/* SPDX-License-Identifier: BSD-3-Clause */

/* Where a kernel has its tasks, from ELF files with made-up lists of symbols and types.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tables/linux/layout.h"
#include "tests/unit/tables/test_btf.h"
#include "tests/unit/tables/test_cfi_file.h"

#define ROWS	0xffffffff82462390
#define STRINGS 0xffffffff8248b400
#define PER_CPU 0xffffffff8241cb60
#define CURRENT 0x1fb80
#define ROW	12
#define SYMBOLS 4

struct symbol {
	const char *name;
	uint64_t address;
};

static const struct symbol before_6_2[SYMBOLS] = {
	{"init_task", 0xffffffff82a1aa40},
	{"current_task", CURRENT},
	{"__per_cpu_offset", PER_CPU},
	{"zlib", 0xffffffff81000000},
};
static const struct symbol since_6_2[SYMBOLS] = {
	{"__per_cpu_offset", PER_CPU},
	{"pcpu_hot_", 0xffffffff82a1aa40},
	{"pcpu_hot", CURRENT},
	{"zlib", 0xffffffff81000000},
};
static const struct symbol without[SYMBOLS] = {
	{"init_task", 0xffffffff82a1aa40},
	{"__per_cpu_offset", PER_CPU},
	{"zlib", 0xffffffff81000000},
	{"current_tas", CURRENT},
};

/* The sections of a kernel. */
struct kernel {
	uint8_t rows[SYMBOLS * ROW];
	struct buffer strings, types;
};

static void kernel_init(struct kernel *kernel, const struct symbol *symbols)
{
	*kernel = (struct kernel){.types = btf_of_kernel()};
	for (unsigned int i = 0; i < SYMBOLS; i++) {
		uint8_t *row = kernel->rows + i * ROW;
		uint64_t at = ROWS + i * ROW;
		uint64_t name = STRINGS + kernel->strings.size;

		put_le32(row, (uint32_t)(symbols[i].address - at));
		put_le32(row + 4, (uint32_t)(name - (at + 4)));
		buffer_put(&kernel->strings, symbols[i].name,
			   strlen(symbols[i].name) + 1);
	}
}

static void kernel_free(struct kernel *kernel)
{
	buffer_free(&kernel->strings);
	buffer_free(&kernel->types);
}

static bool find_in_file(struct task_layout *layout, const void *data, size_t size)
{
	struct module_layout modules;

	linux_layouts_find(layout, &modules, data, size);
	return layout->per_cpu != 0;
}

/* @list is the name of the section with the symbols. */
static bool find_layout(const struct kernel *kernel, const char *list,
			struct task_layout *layout)
{
	const struct file_section sections[] = {
		{list, ROWS, kernel->rows, sizeof(kernel->rows), false},
		{"__ksymtab_strings", STRINGS, kernel->strings.data, kernel->strings.size,
		 false},
		{".BTF", 0, kernel->types.data, kernel->types.size, false},
	};
	size_t size;
	uint8_t *file = make_elf(EM_X86_64, sections, 3, &size);
	bool found;

	assert_non_null(file);
	found = find_in_file(layout, file, size);
	free(file);
	return found;
}

static void expect(const struct symbol *symbols, const char *list, uint64_t current)
{
	struct task_layout layout;
	struct kernel kernel;

	kernel_init(&kernel, symbols);
	assert_true(find_layout(&kernel, list, &layout));
	assert_int_equal(layout.per_cpu, PER_CPU);
	assert_int_equal(layout.current, current);
	assert_int_equal(layout.tgid, TASK_TGID);
	assert_int_equal(layout.comm, TASK_COMM);
	assert_int_equal(layout.group_leader, TASK_LEADER);
	assert_int_equal(layout.mm, TASK_MM);
	assert_int_equal(layout.pgd, MM_PGD);
	kernel_free(&kernel);
}

static void tasks_are_found(void **state)
{
	(void)state;
	expect(before_6_2, "__ksymtab", CURRENT);
	expect(before_6_2, "__ksymtab_gpl", CURRENT);
	expect(since_6_2, "__ksymtab", CURRENT + HOT_CURRENT);
}

static void kernels_that_lack_something_have_none(void **state)
{
	struct task_layout layout;
	struct kernel kernel;

	(void)state;
	kernel_init(&kernel, without);
	assert_false(find_layout(&kernel, "__ksymtab", &layout));
	kernel_free(&kernel);
	kernel_init(&kernel, before_6_2);
	assert_false(find_layout(&kernel, "__other", &layout));
	kernel.types.size--;
	assert_false(find_layout(&kernel, "__ksymtab", &layout));
	kernel.types.size++;
	kernel.strings.size = 4;
	assert_false(find_layout(&kernel, "__ksymtab", &layout));
	assert_false(find_in_file(&layout, "", 0));
	assert_false(find_in_file(&layout, "\177ELF", 4));
	kernel_free(&kernel);
}

static void offsets_have_a_limit(void **state)
{
	struct task_layout layout = {.per_cpu = PER_CPU, .pgd = TASK_OFFSET_MAX - 1};

	(void)state;
	assert_true(task_layout_is_valid(&layout));
	layout.pgd++;
	assert_false(task_layout_is_valid(&layout));
	layout.pgd = 0;
	layout.comm = UINT64_MAX;
	assert_false(task_layout_is_valid(&layout));
	layout.comm = 0;
	layout.per_cpu = 0;
	assert_false(task_layout_is_valid(&layout));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_are_found),
		cmocka_unit_test(kernels_that_lack_something_have_none),
		cmocka_unit_test(offsets_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

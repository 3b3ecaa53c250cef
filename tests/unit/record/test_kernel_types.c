/* SPDX-License-Identifier: BSD-3-Clause */

/* A Linux kernel's types in a made-up guest's memory; the lab has real ones. */

#include <stdio.h>

#include "base/clock.h"
#include "record/linux/kernel_types.h"
#include "tests/unit/arch/test_x86.h"
#include "tests/unit/record/test_kernel_names.h"
#include "tests/unit/tables/test_btf.h"

#define TEXT	0xffffffff9a000000u /* moved by KASLR */
#define BTF	(TEXT + 0x14c1b88)
#define PER_CPU (TEXT + 0x141cb60)
#define CURRENT 0x1fb80 /* a variable of each CPU */
#define SYMBOLS 5
#define LOOKS	100 /* more than any search takes */

static const char *const names[SYMBOLS] = {
	"Acurrent_task", "t_text", "R__per_cpu_offset", "r__start_BTF", "r__stop_BTF",
};

/* A guest, and what is known of its names. */
struct kernel {
	struct guest *guest;
	struct kallsyms *kallsyms;
	struct kernel_types types;
};

static void kernel_start(struct kernel *kernel)
{
	struct buffer btf = btf_of_kernel();
	const uint64_t address[SYMBOLS] = {CURRENT, TEXT, PER_CPU, BTF, BTF + btf.size};

	*kernel = (struct kernel){
		.guest = guest_new(&mode_4_level),
		.kallsyms = make_names(names, address, SYMBOLS, TEXT, true),
	};
	put_bytes(kernel->guest, BTF, btf.data, btf.size);
	buffer_free(&btf);
}

static void kernel_end(struct kernel *kernel)
{
	kernel_types_free(&kernel->types);
	kallsyms_free(kernel->kallsyms);
	free(kernel->guest);
}

/* Looks until the types are read, or nothing is due any more. */
static bool search(struct kernel *kernel)
{
	const struct cpu cpu = {.family = CPU_FAMILY_X86, .x86 = kernel->guest->cpu};
	uint64_t now = NS_PER_S;
	bool is_read = false;

	kernel_types_find(&kernel->types, kernel->kallsyms);
	for (int i = 0; i < LOOKS && !is_read; i++) {
		if (!kernel_copy_is_due(&kernel->types.copy, now))
			break;
		is_read = kernel_types_look(&kernel->types, &cpu, &kernel->guest->memory,
					    now);
		now += 10 * NS_PER_S;
	}
	assert_false(kernel_copy_is_due(&kernel->types.copy, now));
	assert_null(kernel->types.copy.bytes);
	return is_read;
}

static void tasks_are_where_the_types_say(void **state)
{
	struct kernel kernel;
	const struct task_layout *tasks = &kernel.types.layouts.tasks;

	(void)state;
	kernel_start(&kernel);
	assert_true(search(&kernel));
	assert_int_equal(tasks->per_cpu, PER_CPU);
	assert_int_equal(tasks->current, CURRENT);
	assert_int_equal(tasks->tgid, TASK_TGID);
	assert_int_equal(tasks->mm, TASK_MM);
	assert_int_equal(tasks->pgd, MM_PGD);
	assert_int_equal(kernel.types.layouts.modules.list, 0);
	/* They are read once. */
	assert_false(search(&kernel));
	kernel_end(&kernel);
}

static void without_names_there_is_no_search(void **state)
{
	(void)state;
	for (unsigned int i = 3; i < SYMBOLS; i++) {
		struct kernel kernel;

		kernel_start(&kernel);
		kernel.kallsyms->offset[i] = 0;
		assert_false(search(&kernel));
		kernel_end(&kernel);
	}
}

static void without_an_address_there_are_no_tasks(void **state)
{
	struct kernel kernel;

	(void)state;
	kernel_start(&kernel);
	kernel.kallsyms->offset[0] = 0;
	assert_true(search(&kernel));
	assert_int_equal(kernel.types.layouts.tasks.per_cpu, 0);
	kernel_end(&kernel);
}

static void a_missing_page_ends_the_search(void **state)
{
	struct kernel kernel;

	(void)state;
	kernel_start(&kernel);
	set_entry(kernel.guest, entry_of(kernel.guest, BTF, 3), 0);
	assert_false(search(&kernel));
	kernel_end(&kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_are_where_the_types_say),
		cmocka_unit_test(without_names_there_is_no_search),
		cmocka_unit_test(without_an_address_there_are_no_tasks),
		cmocka_unit_test(a_missing_page_ends_the_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

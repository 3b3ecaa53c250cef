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
	struct linux_layouts layouts;

	linux_layouts_find(&layouts, data, size);
	*layout = layouts.tasks;
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

/* Types of a kernel with all that is needed for threads; @state is the name of the
 * thread's state, @frame that of the frame on its stack. */
static struct buffer types_of_threads(const char *state, const char *frame)
{
	static const char *const members[] = {"tasks",	"thread_node", "signal",
					      "pid",	"flags",       "exit_state",
					      "on_cpu", "nvcsw",       "nivcsw"};
	static const char *const saved[] = {"r15", "r14", "r13",     "r12",
					    "bx",  "bp",  "ret_addr"};
	struct btf_maker maker = {0};
	uint32_t number = btf_type(&maker, "int", KIND_INT, 0), thread, entity;

	thread = btf_type(&maker, "thread_struct", KIND_STRUCT, 1);
	btf_add(&maker, "sp", number, 8 * 24);
	entity = btf_type(&maker, "sched_entity", KIND_STRUCT, 1);
	btf_add(&maker, "exec_start", number, 8 * 40);
	btf_type(&maker, "task_struct", KIND_STRUCT, 12);
	for (uint32_t i = 0; i < 9; i++)
		btf_add(&maker, members[i], number, 8 * (100 + 8 * i));
	btf_add(&maker, state, number, 8 * 16);
	btf_add(&maker, "thread", thread, 8 * 4096);
	btf_add(&maker, "se", entity, 8 * 200);
	btf_type(&maker, "signal_struct", KIND_STRUCT, 1);
	btf_add(&maker, "thread_head", number, 8 * 32);
	btf_type(&maker, frame, KIND_STRUCT, 7);
	for (uint32_t i = 0; i < 7; i++)
		btf_add(&maker, saved[i], number, 64 * i);
	return btf_finish(&maker);
}

/* Returns whether threads are found, with these types. */
static bool find_threads(const char *state, const char *frame,
			 struct thread_layout *threads)
{
	struct linux_layouts layouts;
	struct kernel kernel;
	uint8_t *file;
	size_t size;

	kernel_init(&kernel, before_6_2);
	buffer_free(&kernel.types);
	kernel.types = types_of_threads(state, frame);
	const struct file_section sections[] = {
		{"__ksymtab", ROWS, kernel.rows, sizeof(kernel.rows), false},
		{"__ksymtab_strings", STRINGS, kernel.strings.data, kernel.strings.size,
		 false},
		{".BTF", 0, kernel.types.data, kernel.types.size, false},
	};
	file = make_elf(EM_X86_64, sections, 3, &size);
	linux_layouts_find(&layouts, file, size);
	*threads = layouts.threads;
	assert_int_equal(layouts.tasks.per_cpu, 0);
	free(file);
	kernel_free(&kernel);
	return threads->init != 0;
}

static void threads_are_found(void **state)
{
	static const char *const names[] = {"__state", "state"};
	struct thread_layout threads;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_true(find_threads(names[i], "inactive_task_frame", &threads));
		assert_int_equal(threads.init, 0xffffffff82a1aa40);
		assert_int_equal(threads.tasks, 100);
		assert_int_equal(threads.thread_node, 108);
		assert_int_equal(threads.thread_head, 32);
		assert_int_equal(threads.on_cpu, 148);
		assert_int_equal(threads.state, 16);
		assert_int_equal(threads.sp, 4096 + 24);
		assert_int_equal(threads.ran, 240);
		assert_int_equal(threads.bp, 40);
		assert_int_equal(threads.return_address, 48);
	}
	assert_false(find_threads("states", "inactive_task_frame", &threads));
	assert_false(find_threads("state", "active_task_frame", &threads));
}

/* Types of a kernel for arm64, whose registers are in the task. */
static struct buffer types_of_arm64(void)
{
	static const char *const members[] = {
		"tasks",      "thread_node", "signal",	     "pid",    "flags",
		"exit_state", "on_cpu",	     "nvcsw",	     "nivcsw", "__state",
		"tgid",	      "comm",	     "group_leader", "mm"};
	struct btf_maker maker = {0};
	uint32_t number = btf_type(&maker, "int", KIND_INT, 0), context, thread, entity;

	context = btf_type(&maker, "cpu_context", KIND_STRUCT, 4);
	btf_add(&maker, "x19", number, 0);
	btf_add(&maker, "fp", number, 8 * 80);
	btf_add(&maker, "sp", number, 8 * 88);
	btf_add(&maker, "pc", number, 8 * 96);
	thread = btf_type(&maker, "thread_struct", KIND_STRUCT, 1);
	btf_add(&maker, "cpu_context", context, 8 * 8);
	entity = btf_type(&maker, "sched_entity", KIND_STRUCT, 1);
	btf_add(&maker, "exec_start", number, 8 * 40);
	btf_type(&maker, "task_struct", KIND_STRUCT, 16);
	for (uint32_t i = 0; i < 14; i++)
		btf_add(&maker, members[i], number, 8 * (100 + 8 * i));
	btf_add(&maker, "thread", thread, 8 * 4096);
	btf_add(&maker, "se", entity, 8 * 300);
	btf_type(&maker, "signal_struct", KIND_STRUCT, 1);
	btf_add(&maker, "thread_head", number, 8 * 32);
	btf_type(&maker, "mm_struct", KIND_STRUCT, 1);
	btf_add(&maker, "pgd", number, 8 * 72);
	return btf_finish(&maker);
}

static void arm64_has_registers_in_the_task(void **state)
{
	const uint64_t symbols[LINUX_SYMBOLS] = {
		[LINUX_PER_CPU_OFFSET] = 0xffff800009000000,
		[LINUX_INIT_TASK] = 0xffff80000a000000,
	};
	struct buffer types = types_of_arm64();
	struct linux_layouts layouts;

	(void)state;
	linux_layouts_make(&layouts, types.data, types.size, symbols);
	assert_int_equal(layouts.tasks.per_cpu, 0xffff800009000000);
	assert_int_equal(layouts.tasks.current, 0);
	assert_int_equal(layouts.tasks.pgd, 72);
	assert_int_equal(layouts.threads.init, 0xffff80000a000000);
	assert_int_equal(layouts.threads.bx, 4104);
	assert_int_equal(layouts.threads.bp, 4184);
	assert_int_equal(layouts.threads.sp, 4192);
	assert_int_equal(layouts.threads.return_address, 4200);
	buffer_free(&types);
}

/* Types of a kernel with all that is needed for mappings, in a tree or in a list, but for
 * the member @missing of any struct. */
static struct buffer types_of_mappings(bool is_tree, const char *missing)
{
	static const struct {
		const char *type, *members[6];
	} plain[] = {
		{"path", {"mnt", "dentry"}},
		{"qstr", {"hash", "name"}},
		{"maple_tree", {"ma_lock", "ma_root"}},
		{"vm_area_struct",
		 {"vm_start", "vm_end", "vm_next", "vm_flags", "vm_pgoff", "vm_file"}},
		{"mount", {"mnt_hash", "mnt_parent", "mnt_mountpoint", "mnt"}},
		{"vfsmount", {"mnt_root"}},
		{"maple_range_64", {"parent", "pivot"}},
		{"maple_arange_64", {"parent", "pivot"}},
	};
	struct btf_maker maker = {0};
	uint32_t number = btf_type(&maker, "int", KIND_INT, 0), type[8];

	for (size_t i = 0; i < 8; i++) {
		bool is_node = i >= 6;
		uint32_t count = is_node;

		for (size_t j = 0; j < 6; j++)
			count += plain[i].members[j] != NULL;
		type[i] = btf_type(&maker, plain[i].type, KIND_STRUCT, count);
		for (uint32_t j = 0; j < count - is_node; j++)
			btf_add(&maker,
				strcmp(plain[i].members[j], missing) != 0
					? plain[i].members[j]
					: "other",
				number, 64 * j);
		if (is_node)
			btf_add(&maker, "slot", number, 8 * (i == 6 ? 128 : 80));
	}
	btf_type(&maker, "file", KIND_STRUCT, 1);
	btf_add(&maker, "f_path", type[0], 8 * 16);
	btf_type(&maker, "dentry", KIND_STRUCT, 2);
	btf_add(&maker, "d_parent", number, 8 * 24);
	btf_add(&maker, "d_name", type[1], 8 * 32);
	btf_type(&maker, "mm_struct", KIND_STRUCT, 1);
	btf_add(&maker, is_tree ? "mm_mt" : "mmap", is_tree ? type[2] : number, 8 * 64);
	return btf_finish(&maker);
}

/* Returns what is found of mappings with these types. */
static struct mapping_layout find_mappings(bool is_tree, const char *missing)
{
	struct buffer types = types_of_mappings(is_tree, missing);
	struct linux_layouts layouts;

	linux_layouts_make(&layouts, types.data, types.size,
			   (uint64_t[LINUX_SYMBOLS]){0});
	buffer_free(&types);
	return layouts.mappings;
}

static void mappings_are_found(void **state)
{
	static const char *const needed[] = {"dentry", "vm_start", "vm_file",
					     "mnt_parent", "mnt_root"};
	struct mapping_layout layout = find_mappings(true, "");

	(void)state;
	assert_int_equal(layout.order, MAPPINGS_IN_TREE);
	assert_int_equal(layout.root, 72);
	assert_int_equal(layout.end, 8);
	assert_int_equal(layout.pgoff, 32);
	assert_int_equal(layout.mnt, 16);
	assert_int_equal(layout.dentry, 24);
	assert_int_equal(layout.parent, 24);
	assert_int_equal(layout.name, 40);
	assert_int_equal(layout.mountpoint, 16);
	assert_int_equal(layout.vfsmount, 24);
	assert_int_equal(layout.pivot, 8);
	assert_int_equal(layout.slot, 128);
	assert_int_equal(layout.wide_slot, 80);
	layout = find_mappings(false, "");
	assert_int_equal(layout.order, MAPPINGS_IN_LIST);
	assert_int_equal(layout.root, 64);
	assert_int_equal(layout.next, 16);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		assert_int_equal(find_mappings(true, needed[i]).order, MAPPINGS_UNKNOWN);
	assert_int_equal(find_mappings(true, "pivot").order, MAPPINGS_UNKNOWN);
	assert_int_equal(find_mappings(true, "vm_next").order, MAPPINGS_IN_TREE);
	assert_int_equal(find_mappings(false, "vm_next").order, MAPPINGS_UNKNOWN);
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
	assert_true(thread_layout_is_valid(&(struct thread_layout){.init = 1}));
	assert_false(thread_layout_is_valid(&(struct thread_layout){.tasks = 1}));
	assert_false(thread_layout_is_valid(
		&(struct thread_layout){.init = 1, .tasks = TASK_OFFSET_MAX}));
	assert_false(thread_layout_is_valid(
		&(struct thread_layout){.init = 1, .return_address = TASK_OFFSET_MAX}));
	assert_true(mapping_layout_is_valid(
		&(struct mapping_layout){.order = MAPPINGS_IN_LIST}));
	assert_false(mapping_layout_is_valid(&(struct mapping_layout){
		.order = MAPPINGS_IN_LIST, .wide_slot = MAPPING_OFFSET_MAX}));
	assert_false(mapping_layout_is_valid(
		&(struct mapping_layout){.order = MAPPINGS_IN_TREE}));
	assert_false(mapping_layout_is_valid(&(struct mapping_layout){.order = 3}));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_are_found),
		cmocka_unit_test(kernels_that_lack_something_have_none),
		cmocka_unit_test(threads_are_found),
		cmocka_unit_test(arm64_has_registers_in_the_task),
		cmocka_unit_test(mappings_are_found),
		cmocka_unit_test(offsets_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

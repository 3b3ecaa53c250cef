/* SPDX-License-Identifier: BSD-3-Clause */

/* Tables of programs: whether a guest runs them, and their files. */
#include "tests/unit/tables/test_scene.h"

static void a_program_that_runs_is_accepted(void **state)
{
	struct scene scene = scene_new(&mode_4_level, PAGES);

	(void)state;
	assert_int_equal(check_table(&scene), TABLE_FITS);
	/* Kernels patch their code. */
	damage(&scene, 2 * PAGES / 10);
	assert_int_equal(check_table(&scene), TABLE_FITS);
	scene_free(&scene);
}

static void another_build_is_refused(void **state)
{
	struct scene scene = scene_new(&mode_4_level, PAGES);

	(void)state;
	damage(&scene, 2 * PAGES / 10 + 1);
	assert_int_equal(check_table(&scene), TABLE_DIFFERS);
	assert_string_equal(scene.why.text,
			    "web.elf is of another build than the code in its memory, or "
			    "loaded at another address: they agree in 57 of 64 places");
	scene_free(&scene);
}

static void too_little_memory_decides_nothing(void **state)
{
	static const struct {
		unsigned int pages;
		enum table_fit fit;
	} cases[] = {
		{0, TABLE_UNSEEN},
		{3, TABLE_UNSEEN}, /* 6 places */
		{4, TABLE_FITS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene scene = scene_new(&mode_4_level, cases[i].pages);

		assert_int_equal(check_table(&scene), cases[i].fit);
		if (cases[i].fit == TABLE_UNSEEN)
			assert_string_equal(
				scene.why.text,
				"the code of web.elf was not found in its memory");
		scene_free(&scene);
	}
}

/* A small program may have fewer places than are enough for a large one. */
static void all_places_of_a_small_program_decide(void **state)
{
	struct scene scene = scene_new(&mode_4_level, 1);

	(void)state;
	scene.table->origin->places = 2;
	assert_int_equal(check_table(&scene), TABLE_FITS);
	damage(&scene, 1);
	assert_int_equal(check_table(&scene), TABLE_DIFFERS);
	scene.table->origin->places = 3; /* the third is not mapped */
	assert_int_equal(check_table(&scene), TABLE_UNSEEN);
	scene_free(&scene);
}

static void a_build_id_in_memory_decides(void **state)
{
	struct scene scene = scene_new(&mode_4_level, PAGES);
	struct table_origin *origin = scene.table->origin;

	(void)state;
	damage(&scene, 2 * PAGES);
	assert_int_equal(check_table(&scene), TABLE_DIFFERS);
	origin->build_id_size = SYMBOLS_BUILD_ID;
	origin->build_id_address = CODE + 0x100;
	memset(origin->build_id, 0x5a, SYMBOLS_BUILD_ID);
	memset(guest_byte(scene.guest, CODE + 0x100), 0x5a, SYMBOLS_BUILD_ID);
	assert_int_equal(check_table(&scene), TABLE_FITS);
	/* Without any place, the build-id is all there is to compare. */
	origin->places = 0;
	assert_int_equal(check_table(&scene), TABLE_FITS);
	*guest_byte(scene.guest, CODE + 0x100) = 0;
	assert_int_equal(check_table(&scene), TABLE_UNSEEN);
	scene_free(&scene);
}

/* KASLR moves a kernel by a multiple of 2 MiB, with all of its table's rules. */
static void a_linux_kernel_is_found_where_it_runs(void **state)
{
	const uint64_t text = 0xffffffff81000000, note = text + 0x1234, far = 0x3e000000;
	static const struct unwind_rule rule = {
		.kind = UNWIND_CALLER, .cfa = 24, .caller = -8, .fp = UNWIND_KEPT};
	struct scene scene = scene_new(&mode_4_level, PAGES);
	struct table_origin *origin = scene.table->origin;
	struct unwind_builder *builder = unwind_builder_new();
	struct unwind_table *moved;

	(void)state;
	assert_int_equal(unwind_builder_add(builder, CODE, CODE + 0x1000, &rule), 0);
	assert_int_equal(unwind_builder_add(builder, text + 16, text + 0x800000, &rule),
			 0);
	unwind_table_free(scene.table->table);
	scene.table->table = unwind_builder_finish(builder);
	unwind_builder_free(builder);

	damage(&scene, 2 * PAGES);
	origin->build_id_size = SYMBOLS_BUILD_ID;
	origin->build_id_address = note;
	memset(origin->build_id, 0x5a, SYMBOLS_BUILD_ID);
	map_new(scene.guest, (note + far) & -(uint64_t)GUEST_PAGE_SIZE);
	memset(guest_byte(scene.guest, note + far), 0x5a, SYMBOLS_BUILD_ID);
	/* Another program there is not moved. */
	assert_int_equal(check_table(&scene), TABLE_DIFFERS);
	origin->linux_text = text;
	assert_int_equal(check_table(&scene), TABLE_FITS);
	assert_int_equal(scene.placed.shift[0], far);
	assert_int_equal(placed_table_linux_shift(&scene.placed), far);
	assert_false(placed_table_is_plain(&scene.placed));
	assert_int_equal(placed_table_linux(&scene.placed), text + far);
	assert_int_equal(program_table_linux(scene.table), text);
	assert_false(program_table_names_linux(scene.table));
	scene.table->program = calloc(1, sizeof(*scene.table->program));
	assert_non_null(scene.table->program);
	assert_false(program_table_names_linux(scene.table));
	scene.table->program->function_count = 1;
	assert_true(program_table_names_linux(scene.table));

	moved = placed_table_make(&scene.placed);
	assert_non_null(moved);
	assert_true(unwind_table_serial(moved) !=
		    unwind_table_serial(scene.table->table));
	assert_int_equal(program_table_rows(scene.table, 0),
			 unwind_table_rows(scene.table->table));
	assert_int_equal(unwind_table_find(moved, CODE + 0xfff)->cfa, 24);
	assert_null(unwind_table_find(moved, text + 16));
	assert_null(unwind_table_find(moved, text + far + 15));
	assert_int_equal(unwind_table_find(moved, text + far + 16)->cfa, 24);
	assert_int_equal(unwind_table_find(moved, text + far + 0x7fffff)->cfa, 24);
	assert_null(unwind_table_find(moved, text + far + 0x800000));
	unwind_table_free(moved);

	/* The kernel can't be at addresses where modules are. */
	origin->build_id_address += far;
	origin->build_id[0] = 0;
	assert_int_equal(check_table(&scene), TABLE_DIFFERS);
	assert_int_equal(placed_table_linux_shift(&scene.placed), 0);
	assert_int_equal(placed_table_linux(&scene.placed), 0);
	scene_free(&scene);
}

/* Where the file of a moved program says that its code is. */
#define IN_FILE 0x10000

/* A guest that has the code of a file at CODE. */
static struct scene scene_move(uint8_t *bytes, struct code_range *range)
{
	static const struct unwind_rule rule = {
		.kind = UNWIND_CALLER, .cfa = 40, .caller = -8, .fp = UNWIND_KEPT};
	struct scene scene = scene_new(&mode_4_level, PAGES);
	struct table_origin *origin = scene.table->origin;
	struct unwind_builder *builder = unwind_builder_new();

	assert_non_null(builder);
	assert_int_equal(unwind_builder_add(builder, IN_FILE, IN_FILE + 0x1000, &rule),
			 0);
	unwind_table_free(scene.table->table);
	scene.table->table = unwind_builder_finish(builder);
	unwind_builder_free(builder);
	for (size_t i = 0; i < origin->places; i++) {
		struct table_place *place = &origin->place[i];

		place->address -= CODE - IN_FILE;
		memcpy(bytes + place->address - IN_FILE, place->bytes, TABLE_PLACE_SIZE);
	}
	origin->low = IN_FILE;
	origin->high = IN_FILE + PAGES * GUEST_PAGE_SIZE;
	*range = (struct code_range){IN_FILE, PAGES * GUEST_PAGE_SIZE, bytes};
	scene.table->program = calloc(1, sizeof(*scene.table->program));
	assert_non_null(scene.table->program);
	scene.table->program->code = range;
	scene.table->program->code_count = 1;
	return scene;
}

/* Looks for the program of the scene by the code at @address. */
static enum table_fit find_by(struct scene *scene, uint64_t address)
{
	scene->placed = (struct placed_table){.table = scene->table};
	return placed_table_find(&scene->placed, 0, &scene->cpu, &scene->guest->memory,
				 &address, 1, &scene->why);
}

static void a_moved_program_is_found_by_the_code_that_runs(void **state)
{
	static uint8_t bytes[PAGES * GUEST_PAGE_SIZE];
	struct code_range range;
	struct scene scene = scene_move(bytes, &range);
	struct unwind_table *moved;

	(void)state;
	/* In code that is not the program's, and where nothing is mapped */
	*guest_byte(scene.guest, CODE + 1000) = 0xcc;
	assert_int_equal(find_by(&scene, CODE + 1000), TABLE_UNSEEN);
	assert_int_equal(find_by(&scene, CODE - 1), TABLE_UNSEEN);
	assert_int_equal(find_by(&scene, place_address(5) + 3), TABLE_FITS);
	assert_int_equal(scene.placed.shift[0], CODE - IN_FILE);

	moved = placed_table_make(&scene.placed);
	assert_non_null(moved);
	assert_null(unwind_table_find(moved, IN_FILE));
	assert_int_equal(unwind_table_find(moved, CODE + 0xfff)->cfa, 40);
	assert_null(unwind_table_find(moved, CODE + 0x1000));
	unwind_table_free(moved);
	scene_free(&scene);
}

static void a_moved_program_of_another_build_is_not_found(void **state)
{
	static uint8_t bytes[PAGES * GUEST_PAGE_SIZE];
	struct code_range range;
	struct scene scene = scene_move(bytes, &range);

	(void)state;
	damage(&scene, 2 * PAGES / 10 + 1);
	for (unsigned int i = 0; i < 2 * PAGES; i++)
		assert_int_equal(find_by(&scene, place_address(i)), TABLE_UNSEEN);
	scene_free(&scene);
}

static void an_offset_that_was_given_stays(void **state)
{
	static uint8_t bytes[PAGES * GUEST_PAGE_SIZE];
	struct code_range range;
	struct scene scene = scene_move(bytes, &range);

	(void)state;
	scene.table->program->has_offset = true;
	assert_int_equal(find_by(&scene, place_address(5)), TABLE_UNSEEN);
	scene_free(&scene);
}

/* Two position-independent programs have the same addresses in their files. */
static void programs_that_overlap_are_apart_in_a_table(void **state)
{
	static const char *const specs[] = {"/proc/self/exe", "/proc/self/exe"};
	const uint64_t moved = 0x40000000; /* more than the program's size */
	struct error err;
	struct program_table *table = program_table_make_apart(specs, 2, NULL, &err);
	struct placed_table placed = {table, {true, true}, {moved}, 0};
	const struct unwind_rule *rules[2];
	struct unwind_table *made;
	uint64_t size, work;

	(void)state;
	assert_non_null(table);
	size = table->origin[0].high - table->origin[0].low;
	assert_int_equal(table->origin[0].home, 0);
	assert_true(table->origin[1].low - table->origin[0].high < UINT64_MAX / 2);
	assert_int_equal(table->origin[1].high - table->origin[1].low, size);
	assert_int_equal(table->origin[1].place[0].address -
				 table->origin[0].place[0].address,
			 table->origin[1].home);
	work = (uint64_t)&find_by - (uint64_t)__executable_start;
	rules[0] = unwind_table_find(table->table, work);
	rules[1] = unwind_table_find(table->table, work + table->origin[1].home);
	assert_non_null(rules[0]);
	assert_ptr_equal(rules[0], rules[1]);

	placed.shift[1] = 0x100000000 - table->origin[1].home;
	made = placed_table_make(&placed);
	assert_non_null(made);
	assert_non_null(unwind_table_find(made, work + moved));
	assert_non_null(unwind_table_find(made, work + 0x100000000));
	assert_null(unwind_table_find(made, work + table->origin[1].home));
	unwind_table_free(made);
	/* Programs can't be at one place, but one may not be there. */
	placed.shift[1] = moved - table->origin[1].home;
	assert_null(placed_table_make(&placed));
	placed_table_part(&placed);
	assert_true(placed.is_found[0]);
	assert_false(placed.is_found[1]);
	placed.is_found[0] = false;
	placed.is_found[1] = true;
	placed_table_part(&placed);
	assert_true(placed.is_found[1]);
	made = placed_table_make(&placed);
	assert_non_null(made);
	assert_non_null(unwind_table_find(made, work + moved));
	assert_null(unwind_table_find(made, work));
	unwind_table_free(made);
	program_table_free(table);
}

/* The program of this test, three times: at two addresses, and of another build. */
static struct program_table *make_three(void)
{
	static const char *const specs[] = {"/proc/self/exe", "/proc/self/exe",
					    "/proc/self/exe"};
	struct error err;
	struct program_table *table = program_table_make_apart(specs, 3, NULL, &err);

	assert_non_null(table);
	strcpy(table->origin[2].name, "old.elf");
	for (size_t i = 0; i < table->origin[2].places; i++)
		table->origin[2].place[i].bytes[0] ^= 1;
	table->origin[2].build_id[0] ^= 1;
	return table;
}

static void a_table_is_made_of_the_programs_that_are_there(void **state)
{
	struct program_table *table = make_three();
	struct placed_table placed = {table, {true, false, false}, {0x5000}, 0};
	uint64_t work = (uint64_t)&find_by - (uint64_t)__executable_start;
	size_t rows = unwind_table_rows(table->table);
	struct unwind_table *made;
	char text[64];

	(void)state;
	assert_true(program_table_is_separable(table));
	assert_false(placed_table_is_plain(&placed));
	made = placed_table_make(&placed);
	assert_non_null(made);
	assert_non_null(unwind_table_find(made, work + 0x5000));
	for (size_t i = 1; i < 3; i++)
		assert_null(unwind_table_find(made, work + table->origin[i].home));
	unwind_table_free(made);

	placed_table_names(&placed, text, sizeof(text));
	assert_string_equal(text, "exe");
	placed.is_found[0] = false;
	placed.is_found[2] = true;
	placed_table_names(&placed, text, sizeof(text));
	assert_string_equal(text, "old.elf");
	assert_int_equal(3 * program_table_rows(table, 2), rows);
	program_table_free(table);
}

/* The memory of a guest that has this program, without page tables. */
static const void *own_page(void *context, uint64_t frame)
{
	uint64_t page = frame * GUEST_PAGE_SIZE;

	(void)context;
	if (page < (uint64_t)__executable_start || page >= (uint64_t)etext)
		return NULL;
	return (const void *)page;
}

/* Of programs at one address, the one that was found first keeps it. */
static void each_program_is_judged_by_itself(void **state)
{
	struct program_table *table = make_three();
	const struct guest_memory memory = {.page = own_page};
	const struct cpu cpu = {.family = CPU_FAMILY_ARM};
	const uint64_t here = (uint64_t)&find_by;
	struct placed_table placed = {.table = table};
	struct error why;

	(void)state;
	table->cpu = cpu_kind(&cpu);
	assert_int_equal(placed_table_find(&placed, 2, &cpu, &memory, &here, 1, &why),
			 TABLE_UNSEEN);
	assert_int_equal(placed_table_find(&placed, 1, &cpu, &memory, &here, 1, &why),
			 TABLE_FITS);
	assert_int_equal(placed_table_move(&placed, 1), (uint64_t)__executable_start);
	assert_int_equal(placed_table_find(&placed, 0, &cpu, &memory, &here, 1, &why),
			 TABLE_TAKEN);
	assert_string_equal(why.text, "it is at the same address as exe");
	assert_true(placed.is_found[1]);
	assert_false(placed.is_found[0] || placed.is_found[2]);
	program_table_free(table);
}

/* Data among the code, such as page tables, which the CPU writes to. */
asm(".pushsection .text; .globl data_in_code, data_end; .balign 4096; data_in_code:\n"
    ".set i, 1; .rept 8192; .quad i * 0x123456789abcdf1; .set i, i + 1; .endr\n"
    "data_end: .popsection\n");
extern const uint8_t data_in_code[], data_end[];

static void places_are_in_functions(void **state)
{
	static const char *const specs[] = {"/proc/self/exe"};
	struct error err;
	struct program_table *table = program_table_make(specs, 1, NULL, NULL, &err);
	uint64_t start = (uint64_t)data_in_code - (uint64_t)__executable_start;
	uint64_t size = (uint64_t)(data_end - data_in_code);

	(void)state;
	assert_non_null(table);
	assert_true(table->origin->places > TABLE_PLACES / 2);
	for (size_t i = 0; i < table->origin->places; i++)
		assert_false(table->origin->place[i].address - start < size);
	program_table_free(table);
}

static void another_cpu_is_refused_unless_the_guest_boots(void **state)
{
	struct scene scene = scene_new(&mode_4_level, PAGES);
	struct scene boots = scene_new(&mode_32, PAGES);

	(void)state;
	scene.table->cpu = CPU_ARM64;
	assert_int_equal(check_table(&scene), TABLE_FOREIGN);
	assert_string_equal(scene.why.text,
			    "web.elf is for arm64, but it runs on x86-64");
	assert_int_equal(check_table(&boots), TABLE_UNSEEN);
	/* Neither is x86, but no CPU of one family runs code for the other. */
	scene.cpu = (struct cpu){.family = CPU_FAMILY_RISCV};
	assert_int_equal(check_table(&scene), TABLE_FOREIGN);
	scene_free(&scene);
	scene_free(&boots);
}

static void a_file_has_all_of_a_table(void **state)
{
	const struct fiber_layout fibers = {
		.list = 0x106000,
		.sched_list = 72,
		.sched_next = FIBER_NONE,
		.current = 0x107000,
		.currents = 4,
		.switch_code = 0x100000,
		.wakeup = FIBER_NONE,
		.runtime = 176,
		.runnable = 8,
		.frame = {6, FIBER_SKIP, FIBER_RETURN_X86 + 1},
	};
	char path[] = "/tmp/test_program_table.XXXXXX", names[64], ids[64];
	struct program_table *table = make_table(), *again;
	int fd = mkstemp(path);
	struct error err;

	(void)state;
	table->origin->build_id_size = 3;
	table->origin->build_id_address = 0xffffffff80001234;
	table->origin->hypercall_page = 0xffffffff80005000;
	table->origin->linux_text = 0xffffffff81000000;
	assert_null(program_table_tasks(table));
	table->origin->tasks = (struct task_layout){
		0xffffffff8241cb60, 0x1fb80, 2420, 2976, 2480, 2272, TASK_OFFSET_MAX - 1};
	assert_ptr_equal(program_table_tasks(table), &table->origin->tasks);
	assert_null(program_table_modules(table));
	table->origin->modules = (struct module_layout){
		8, 0, 24, 320, 332, 512, 520, MODULE_OFFSET_MAX - 1};
	assert_ptr_equal(program_table_modules(table), &table->origin->modules);
	assert_null(program_table_threads(table));
	table->origin->threads = (struct thread_layout){
		.init = 0xffffffff82a1aa40, .tasks = 2192, .return_address = 48};
	assert_ptr_equal(program_table_threads(table), &table->origin->threads);
	assert_null(program_table_mappings(table));
	table->origin->mappings = (struct mapping_layout){
		.order = MAPPINGS_IN_LIST, .root = 64, .wide_slot = 80};
	assert_ptr_equal(program_table_mappings(table), &table->origin->mappings);
	table->origin->fiber_layouts = 2;
	table->origin->fibers[0] = fibers;
	table->origin->fibers[1] = fibers;
	table->origin->fibers[1].stack = FIBER_OFFSET_MAX - 1;
	memcpy(table->origin->build_id, "\x01\xab\xff", 3);
	table->origin->place[1].address = UINT64_MAX - 15;
	assert_true(fd >= 0);
	assert_int_equal(program_table_write(table, fd, path, &err), 0);
	again = program_table_read(path, &err);
	assert_non_null(again);
	assert_int_equal(again->cpu, table->cpu);
	assert_int_equal(again->origins, 1);
	assert_memory_equal(again->origin, table->origin, sizeof(*table->origin));
	assert_int_equal(unwind_table_rows(again->table),
			 unwind_table_rows(table->table));
	assert_non_null(unwind_table_find(again->table, CODE));
	assert_null(unwind_table_find(again->table, CODE + 0x1000));
	program_table_names(again, names, sizeof(names));
	placed_table_build_ids(&(struct placed_table){again, {true}, {0}, 0}, ids,
			       sizeof(ids));
	assert_string_equal(names, "web.elf");
	assert_string_equal(ids, "01abff");
	program_table_free(again);
	/* Offsets that no kernel has. */
	table->origin->tasks.pgd = TASK_OFFSET_MAX;
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(program_table_write(table, fd, path, &err), 0);
	assert_null(program_table_read(path, &err));
	assert_non_null(strstr(err.text, "is damaged"));
	table->origin->tasks.pgd = 0;
	table->origin->modules.rows = MODULE_OFFSET_MAX;
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(program_table_write(table, fd, path, &err), 0);
	assert_null(program_table_read(path, &err));
	assert_non_null(strstr(err.text, "is damaged"));
	table->origin->modules.rows = 0;
	table->origin->threads.bp = TASK_OFFSET_MAX;
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(program_table_write(table, fd, path, &err), 0);
	assert_null(program_table_read(path, &err));
	assert_non_null(strstr(err.text, "is damaged"));
	table->origin->threads.bp = 0;
	table->origin->fibers[1].stack = FIBER_OFFSET_MAX;
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(program_table_write(table, fd, path, &err), 0);
	assert_null(program_table_read(path, &err));
	assert_non_null(strstr(err.text, "is damaged"));
	table->origin->fiber_layouts = 1;
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(program_table_write(table, fd, path, &err), 0);
	again = program_table_read(path, &err);
	assert_non_null(again);
	program_table_names(again, names, 4);
	placed_table_build_ids(&(struct placed_table){again, {true}, {0}, 0}, ids, 6);
	assert_string_equal(names, "web");
	assert_string_equal(ids, "");
	close(fd);
	unlink(path);
	program_table_free(again);
	program_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_runs_is_accepted),
		cmocka_unit_test(another_build_is_refused),
		cmocka_unit_test(too_little_memory_decides_nothing),
		cmocka_unit_test(all_places_of_a_small_program_decide),
		cmocka_unit_test(a_build_id_in_memory_decides),
		cmocka_unit_test(a_linux_kernel_is_found_where_it_runs),
		cmocka_unit_test(a_moved_program_is_found_by_the_code_that_runs),
		cmocka_unit_test(a_moved_program_of_another_build_is_not_found),
		cmocka_unit_test(an_offset_that_was_given_stays),
		cmocka_unit_test(programs_that_overlap_are_apart_in_a_table),
		cmocka_unit_test(a_table_is_made_of_the_programs_that_are_there),
		cmocka_unit_test(each_program_is_judged_by_itself),
		cmocka_unit_test(places_are_in_functions),
		cmocka_unit_test(another_cpu_is_refused_unless_the_guest_boots),
		cmocka_unit_test(a_file_has_all_of_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

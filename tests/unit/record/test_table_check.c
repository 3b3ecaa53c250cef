/* SPDX-License-Identifier: BSD-3-Clause */

/* When a table's programs are used, and when they are given up. The guest's memory is
 * this program's, without page tables: only the test decides what a vCPU sees when. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "record/learning/table_check.h"

/* Start of this program, and end of its code, from the linker. */
extern const uint8_t __executable_start[], etext[];

struct scene {
	bool is_mapped;	    /* the guest has this program */
	bool is_other_gone; /* and in no address space another one */
	struct guest guest;
	struct guest_vcpu vcpu;
	struct guest_memory memory;
	struct program_table *table;
	struct table_check check;
	uint64_t time;	   /* of the last check, ns */
	uint64_t code;	   /* where the vCPU executes; 0: not known */
	uint64_t distance; /* see page_table() */
};

/* Where the file of the program says that it is: where it is, or elsewhere. */
enum file {
	RIGHT,	/* the program, where it is */
	OTHER,	/* of another build, at the same address */
	ABSENT, /* at an address where nothing is mapped */
	FILES,
};

static const void *own_page(void *context, uint64_t frame)
{
	const struct scene *scene = context;
	uint64_t page = frame * GUEST_PAGE_SIZE;

	if (!scene->is_mapped || page < (uint64_t)__executable_start ||
	    page >= (uint64_t)etext)
		return NULL;
	return (const void *)page;
}

/*
 * Address spaces of an x86-64 CPU, whose tables are in the frames FIRST, SECOND and
 * MOVED, with pages of 1 GiB (Intel SDM, volume 3, section 4.5): the first has this
 * program, the second one the other build at its address, and the third this program
 * higher.
 */
enum {
	FIRST = 1,
	SECOND = 2,
	MOVED = 3
};
#define TABLES	   16		/* first frame of further tables */
#define OTHER_BIT  (1ull << 47) /* in physical addresses: the other build */
#define PRESENT	   1ull
#define LARGE_PAGE (PRESENT | 0x80ull)

/* @distance: bytes by which the third address space has the program higher. */
static const void *page_table(uint64_t root, uint64_t number, uint64_t distance)
{
	static uint64_t table[GUEST_PAGE_SIZE / 8];
	uint64_t other = root == SECOND ? OTHER_BIT : 0;

	distance = root == MOVED ? distance : 0;
	for (uint64_t i = 0; i < GUEST_PAGE_SIZE / 8; i++)
		table[i] = number ? (((number - 1) << 39 | i << 30) - distance) %
						    OTHER_BIT |
					    other | LARGE_PAGE
				  : (TABLES + (i + 1) * 4 + root) << GUEST_PAGE_SHIFT |
					    PRESENT;
	return table;
}

/* A page of this program, with the other build's id and code in its places. */
static const void *other_page(const struct scene *scene, uint64_t page)
{
	static uint8_t code[GUEST_PAGE_SIZE];
	const struct table_origin *right = &scene->table->origin[RIGHT],
				  *other = &scene->table->origin[OTHER];
	uint64_t id = right->build_id_address - right->home - page;

	memcpy(code, (const void *)page, sizeof(code));
	if (right->build_id_address && id < sizeof(code))
		code[id] ^= 1;
	for (size_t i = 0; i < right->places; i++) {
		uint64_t at = right->place[i].address - right->home - page;

		if (at < sizeof(code))
			memcpy(code + at, other->place[i].bytes, TABLE_PLACE_SIZE);
	}
	return code;
}

static const void *page_of_two(void *context, uint64_t frame)
{
	const struct scene *scene = context;
	uint64_t address = frame << GUEST_PAGE_SHIFT, page = address & ~OTHER_BIT;

	if (frame < TABLES)
		return page_table(frame, 0, scene->distance);
	if (frame < TABLES + 4 * 257)
		return page_table((frame - TABLES) % 4, (frame - TABLES) / 4,
				  scene->distance);
	if (page < (uint64_t)__executable_start || page >= (uint64_t)etext)
		return NULL;
	return address == page || scene->is_other_gone ? (const void *)page
						       : other_page(scene, page);
}

static void begin_pages(void *memory, uint64_t now, unsigned int map_calls)
{
	(void)memory;
	(void)now;
	(void)map_calls;
}

static const struct guest_ops ops = {.begin_pages = begin_pages};

static int setup(void **state)
{
	static char offset[FILES][64];
	const char *specs[FILES];
	struct scene *scene = calloc(1, sizeof(*scene));
	struct error err;

	assert_non_null(scene);
	for (unsigned int i = 0; i < FILES; i++) {
		snprintf(offset[i], sizeof(offset[i]), "/proc/self/exe@0x%llx",
			 (unsigned long long)__executable_start +
				 (i == ABSENT ? 1ull << 36 : 0));
		specs[i] = offset[i];
	}
	scene->table = program_table_make_apart(specs, FILES, NULL, &err);
	assert_non_null(scene->table);
	strcpy(scene->table->origin[OTHER].name, "other.elf");
	scene->table->origin[OTHER].build_id[0] ^= 1;
	for (size_t i = 0; i < scene->table->origin[OTHER].places; i++)
		scene->table->origin[OTHER].place[i].bytes[0] ^= 1;
	scene->vcpu = (struct guest_vcpu){.captured = true,
					  .cpu = {.family = CPU_FAMILY_ARM}};
	scene->table->cpu = cpu_kind(&scene->vcpu.cpu);
	scene->guest = (struct guest){
		.ops = &ops, .info = {.vcpus = 1}, .vcpu = &scene->vcpu};
	scene->memory = (struct guest_memory){.page = own_page, .context = scene};
	scene->check.placed.table = scene->table;
	scene->check.state = TABLE_PENDING;
	scene->is_mapped = true;
	*state = scene;
	return 0;
}

static int teardown(void **state)
{
	struct scene *scene = *state;

	table_check_free(&scene->check);
	program_table_free(scene->table);
	free(scene);
	return 0;
}

static bool check_later(struct scene *scene, uint64_t seconds)
{
	struct sample sample = {.chain = {.address = &scene->code, .count = 1}};
	const struct round round = {
		.time = scene->time += seconds * NS_PER_S,
		.sample = &sample,
		.samples = scene->code ? 1 : 0,
	};

	return table_check_run(&scene->check, &scene->guest, &scene->memory, &round);
}

static bool is_in_use(const struct scene *scene, enum file file)
{
	return scene->check.placed.is_found[file];
}

static void each_file_is_used_as_soon_as_it_is_found(void **state)
{
	struct scene *scene = *state;
	uint64_t work = (uint64_t)&check_later;

	assert_true(check_later(scene, 1));
	assert_int_equal(scene->check.state, TABLE_USED);
	assert_true(is_in_use(scene, RIGHT));
	assert_false(is_in_use(scene, OTHER) || is_in_use(scene, ABSENT));
	assert_non_null(unwind_table_find(scene->check.table, work));
	assert_null(unwind_table_find(scene->check.table, work + (1ull << 36)));
	assert_false(check_later(scene, 1));
	assert_non_null(unwind_table_find(scene->check.table, work));
}

/* Lets the vCPU execute in an address space with this root, and returns the table by
 * which its code is unwound there. */
static const struct unwind_table *table_in(struct scene *scene, uint64_t root)
{
	const struct table_check *check = &scene->check;

	scene->vcpu.cpu = (struct cpu){
		.family = CPU_FAMILY_X86,
		.x86 = {.cr0 = X86_CR0_PG,
			.cr3 = root << GUEST_PAGE_SHIFT,
			.cr4 = X86_CR4_PAE,
			.efer = X86_EFER_LMA},
	};
	check_later(scene, 3);
	return unwind_table_in(&(struct unwind_input){.table = check->table,
						      .spaces = check->spaces.list,
						      .space_count = check->spaces.count},
			       root << GUEST_PAGE_SHIFT);
}

/* Two processes have different programs at one address. */
static void each_address_space_has_its_programs(void **state)
{
	struct scene *scene = *state;
	uint64_t work = (uint64_t)&check_later;
	const struct unwind_table *first, *second;
	struct rival_space list[4];

	scene->memory.page = page_of_two;
	scene->table->cpu = CPU_X86_64;
	first = table_in(scene, FIRST);
	assert_true(is_in_use(scene, RIGHT) && !is_in_use(scene, OTHER));
	assert_non_null(unwind_table_find(first, work));

	second = table_in(scene, SECOND);
	assert_true(is_in_use(scene, RIGHT) && is_in_use(scene, OTHER));
	assert_false(scene->check.miss[OTHER].is_given_up);
	first = table_in(scene, FIRST);
	assert_true(first && second && first != second);
	assert_true(first != scene->check.table && second != scene->check.table);
	assert_non_null(unwind_table_find(first, work));
	assert_non_null(unwind_table_find(second, work));
	assert_null(unwind_table_find(scene->check.table, work));
	/* Reports are told which is which. */
	assert_int_equal(
		spaces_rivals(&scene->check.spaces, &scene->check.placed, list, 4), 2);
	assert_int_equal(list[0].program, 0);
	assert_int_equal(list[0].space, FIRST << GUEST_PAGE_SHIFT);
	assert_int_equal(list[1].program, 1);
	assert_int_equal(list[1].space, SECOND << GUEST_PAGE_SHIFT);
	/* There is nothing to learn from then on. */
	assert_ptr_equal(table_in(scene, SECOND), second);
	assert_ptr_equal(table_in(scene, FIRST), first);
}

/* That one process has another program at the address says nothing of other processes. */
static void a_rare_process_is_waited_for(void **state)
{
	struct scene *scene = *state;

	scene->memory.page = page_of_two;
	scene->table->cpu = CPU_X86_64;
	table_in(scene, FIRST);
	table_in(scene, 3);
	for (unsigned int i = 0; i < 100; i++)
		table_in(scene, FIRST);
	assert_false(scene->check.miss[OTHER].is_given_up);
	for (unsigned int i = 0; i < 8; i++)
		table_in(scene, SECOND);
	assert_true(is_in_use(scene, RIGHT) && is_in_use(scene, OTHER));
}

/* A program's rules say nothing of another one's code at its address. */
static void a_table_is_not_used_for_other_code(void **state)
{
	struct scene *scene = *state;
	uint64_t work = (uint64_t)&check_later;
	const struct unwind_table *other;

	scene->memory.page = page_of_two;
	scene->table->cpu = CPU_X86_64;
	scene->table->origins = 1;
	table_in(scene, FIRST);
	assert_true(is_in_use(scene, RIGHT));
	other = table_in(scene, SECOND);
	assert_ptr_not_equal(other, scene->check.table);
	assert_null(unwind_table_find(other, work));
	assert_non_null(unwind_table_find(table_in(scene, FIRST), work));
	/* The address space is another process's later. */
	scene->is_other_gone = true;
	assert_ptr_equal(table_in(scene, SECOND), scene->check.table);
	scene->table->origins = FILES;
}

/* Processes of one program have it at different addresses. */
static void each_address_space_has_its_places(void **state)
{
	struct scene *scene = *state;
	uint64_t work = (uint64_t)&check_later, moved = work + (2ull << 30);
	const struct unwind_table *there;
	const struct placed_table *placed;

	scene->memory.page = page_of_two;
	scene->table->cpu = CPU_X86_64;
	scene->table->origins = 1;
	scene->table->program[RIGHT].has_offset = false;
	scene->distance = moved - work;
	table_in(scene, FIRST);
	assert_true(is_in_use(scene, RIGHT));
	/* Nothing leads there yet. */
	there = table_in(scene, MOVED);
	assert_null(unwind_table_find(there, work));
	assert_null(unwind_table_find(there, moved));
	scene->code = moved;
	there = table_in(scene, MOVED);
	assert_null(unwind_table_find(there, work));
	assert_non_null(unwind_table_find(there, moved));
	placed = spaces_placed(&scene->check.spaces, MOVED << GUEST_PAGE_SHIFT);
	assert_true(placed && placed->is_found[RIGHT]);
	assert_int_equal(placed->shift[RIGHT],
			 scene->check.placed.shift[RIGHT] + scene->distance);
	assert_int_equal(spaces_programs(&scene->check.spaces, MOVED << GUEST_PAGE_SHIFT),
			 0);
	/* It is known from then on, and that of other processes has not changed. */
	scene->code = 0;
	assert_ptr_equal(table_in(scene, MOVED), there);
	assert_non_null(unwind_table_find(table_in(scene, FIRST), work));
	assert_ptr_equal(table_in(scene, FIRST), scene->check.table);
	/* The address space is that of many processes, one after the other. */
	for (unsigned int i = 3; i < 3 + 2 * SPACES_TABLES_MAX; i++) {
		scene->distance = (uint64_t)i << 30;
		scene->code = work + scene->distance;
		there = table_in(scene, MOVED);
		assert_null(unwind_table_find(there, moved));
		assert_non_null(unwind_table_find(there, scene->code));
	}
	scene->table->origins = FILES;
}

static void a_file_is_given_up_after_some_checks(void **state)
{
	struct scene *scene = *state;
	const struct table_miss *miss = scene->check.miss;
	unsigned int checks = 0;

	for (; checks < 100 && !miss[OTHER].is_given_up; checks++)
		check_later(scene, 3);
	assert_int_equal(checks, 8);
	assert_non_null(strstr(miss[OTHER].why.text, "other.elf is of another build"));
	while (checks++ < 100)
		check_later(scene, 3);
	/* What is not mapped may still come. */
	assert_false(miss[ABSENT].is_given_up);
	assert_non_null(strstr(miss[ABSENT].why.text, "was not found in its memory"));
	assert_int_equal(scene->check.state, TABLE_USED);
}

static void a_program_may_start_late(void **state)
{
	struct scene *scene = *state;

	scene->is_mapped = false;
	for (unsigned int i = 0; i < 100; i++) {
		assert_false(check_later(scene, 3));
		assert_int_equal(scene->check.state, TABLE_PENDING);
	}
	assert_false(table_check_is_open(&scene->check));
	scene->is_mapped = true;
	assert_true(check_later(scene, 3));
	assert_int_equal(scene->check.state, TABLE_USED);
	assert_true(is_in_use(scene, RIGHT));
}

static void a_table_is_refused_if_no_file_fits(void **state)
{
	struct scene *scene = *state;
	unsigned int checks = 0;

	/* Of another build, too */
	scene->table->origins = 2;
	scene->table->origin[RIGHT] = scene->table->origin[OTHER];
	while (checks < 8) {
		assert_int_equal(scene->check.state, TABLE_PENDING);
		checks++;
		assert_false(check_later(scene, 3));
	}
	assert_int_equal(scene->check.state, TABLE_REFUSED);
	assert_non_null(strstr(table_check_why(&scene->check), "of another build"));
	assert_false(check_later(scene, 3));
	scene->table->origins = FILES;
}

/* Another program may have the address for a long time. */
static void a_refused_file_may_run_later(void **state)
{
	struct scene *scene = *state;
	struct table_origin right = scene->table->origin[RIGHT];

	scene->table->origins = 1;
	scene->table->origin[RIGHT] = scene->table->origin[OTHER];
	while (scene->check.state == TABLE_PENDING)
		assert_false(check_later(scene, 1));
	assert_int_equal(scene->check.state, TABLE_REFUSED);
	scene->table->origin[RIGHT] = right;
	for (unsigned int i = 0; i < 40 && !check_later(scene, 3); i++)
		;
	assert_int_equal(scene->check.state, TABLE_USED);
	assert_true(is_in_use(scene, RIGHT));
	assert_string_equal(table_check_why(&scene->check), "");
	scene->table->origins = FILES;
}

static void programs_of_a_table_file_are_used_together(void **state)
{
	struct scene *scene = *state;
	struct program_table *table = scene->table;
	struct table_origin *origin = table->origin;
	struct program *programs = table->program;

	table->program = NULL;
	for (size_t i = 0; i < FILES; i++)
		origin[i].low = origin[i].high = 0;
	table->origins = 2;
	for (unsigned int checks = 0; checks < 8; checks++)
		assert_false(check_later(scene, 3));
	assert_int_equal(scene->check.state, TABLE_REFUSED);
	assert_non_null(strstr(table_check_why(&scene->check), "other.elf"));
	table->program = programs;
	table->origins = FILES;
}

/* KVM stores a vCPU's registers on request, which the first pause makes. */
static void the_first_registers_are_checked_at_once(void **state)
{
	struct scene *scene = *state;

	scene->vcpu.captured = false;
	assert_false(check_later(scene, 1) || check_later(scene, 0));
	assert_int_equal(scene->check.checks, 1);
	scene->vcpu.captured = true;
	assert_true(check_later(scene, 0));
	assert_true(is_in_use(scene, RIGHT));
	assert_false(check_later(scene, 0));
	assert_int_equal(scene->check.checks, 2);
}

static void without_any_registers_there_is_a_reason(void **state)
{
	struct scene *scene = *state;

	scene->vcpu.captured = false;
	assert_false(check_later(scene, 1));
	assert_int_equal(scene->check.state, TABLE_PENDING);
	assert_string_equal(table_check_why(&scene->check),
			    "none of its vCPUs could be read");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_file_is_used_as_soon_as_it_is_found,
						setup, teardown),
		cmocka_unit_test_setup_teardown(each_address_space_has_its_programs,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_rare_process_is_waited_for, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_table_is_not_used_for_other_code, setup,
						teardown),
		cmocka_unit_test_setup_teardown(each_address_space_has_its_places, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_file_is_given_up_after_some_checks,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_program_may_start_late, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_table_is_refused_if_no_file_fits, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_refused_file_may_run_later, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			programs_of_a_table_file_are_used_together, setup, teardown),
		cmocka_unit_test_setup_teardown(the_first_registers_are_checked_at_once,
						setup, teardown),
		cmocka_unit_test_setup_teardown(without_any_registers_there_is_a_reason,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

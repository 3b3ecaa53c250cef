/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_TABLES_TEST_SCENE_H
#define UNIPROF_TESTS_UNIT_TABLES_TEST_SCENE_H

/* Shared by the tests of tables of programs: a guest that may run one. */
#include "tests/unit/arch/test_x86.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tables/build.h"
#include "tables/program_table.h"

#define CODE  0x401000ull
#define PAGES 32 /* of code, with two places each */

/* A guest and the table of a program that it may run. */
struct scene {
	struct guest *guest;
	struct cpu cpu;
	struct program_table *table;
	struct placed_table placed;
	struct error why;
};

/* Start of this program, and end of its code, from the linker. */
extern const uint8_t __executable_start[], etext[];

static inline uint64_t place_address(unsigned int i)
{
	return CODE + i * (GUEST_PAGE_SIZE / 2) + 16;
}

static inline struct program_table *make_table(void)
{
	static const struct unwind_rule rule = {
		.kind = UNWIND_CALLER, .cfa = 8, .caller = -8, .fp = UNWIND_KEPT};
	struct unwind_builder *builder = unwind_builder_new();
	struct program_table *table = calloc(1, sizeof(*table));

	assert_non_null(table);
	assert_non_null(builder);
	assert_int_equal(unwind_builder_add(builder, CODE, CODE + 0x1000, &rule), 0);
	table->table = unwind_builder_finish(builder);
	table->cpu = CPU_X86_64;
	table->origin = calloc(1, sizeof(*table->origin));
	assert_non_null(table->table);
	assert_non_null(table->origin);
	unwind_builder_free(builder);
	table->origins = 1;
	strcpy(table->origin->name, "web.elf");
	table->origin->places = 2 * PAGES;
	for (unsigned int i = 0; i < 2 * PAGES; i++) {
		table->origin->place[i].address = place_address(i);
		memset(table->origin->place[i].bytes, (int)i + 1, TABLE_PLACE_SIZE);
	}
	return table;
}

/* The guest's code is the program's in the first @pages pages; others are not mapped. */
static inline struct scene scene_new(const struct mode *mode, unsigned int pages)
{
	struct scene scene = {.guest = guest_new(mode), .table = make_table()};

	for (unsigned int i = 0; i < pages; i++)
		map_new(scene.guest, CODE + i * GUEST_PAGE_SIZE);
	for (unsigned int i = 0; i < 2 * pages; i++)
		memset(guest_byte(scene.guest, place_address(i)), (int)i + 1,
		       TABLE_PLACE_SIZE);
	scene.cpu = (struct cpu){.family = CPU_FAMILY_X86, .x86 = scene.guest->cpu};
	return scene;
}

static inline void scene_free(struct scene *scene)
{
	free(scene->guest);
	program_table_free(scene->table);
}

static inline enum table_fit check_table(struct scene *scene)
{
	scene->why.text[0] = 0;
	scene->placed = (struct placed_table){.table = scene->table};
	return placed_table_find(&scene->placed, 0, &scene->cpu, &scene->guest->memory,
				 NULL, 0, &scene->why);
}

static inline void damage(struct scene *scene, unsigned int places)
{
	for (unsigned int i = 0; i < places; i++)
		*guest_byte(scene->guest, place_address(i) + TABLE_PLACE_SIZE - 1) ^= 1;
}

#endif

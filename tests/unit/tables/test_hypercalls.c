/* SPDX-License-Identifier: BSD-3-Clause */

/* Xen's page of hypercalls, which tables of programs know and guests have filled in. */
#include "tables/hypercalls.h"
#include "tests/unit/tables/test_scene.h"

/* XEN_ELFNOTE_HYPERCALL_PAGE */
asm(".pushsection .note.Xen, \"a\", @note; .balign 4; .long 4, 8, 2; .asciz \"Xen\"\n"
    ".quad 0xffffffff80003000; .popsection\n");

static void the_note_for_xen_has_the_page_of_hypercalls(void **state)
{
	static const char *const specs[] = {"/proc/self/exe", "/proc/self/exe@0x1000"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct error err;
		struct program_table *table = program_table_make(&specs[i], 1, NULL, NULL,
								 &err);

		assert_non_null(table);
		assert_int_equal(table->origin->hypercall_page,
				 0xffffffff80003000 + i * 0x1000);
		program_table_free(table);
	}
}

/* Fills the page as Xen does for guests with their own page tables. */
static void fill_page(struct scene *scene, uint64_t address)
{
	for (unsigned int i = 0; i < 32; i++) {
		const uint8_t stub[] = {0xb8, (uint8_t)i, 0,	0,   0,
					0x0f, 0x01,	  0xc1, 0xc3};

		memcpy(guest_byte(scene->guest, address + (uint64_t)i * 32), stub,
		       sizeof(stub));
	}
}

static struct unwind_table *find_hypercalls(struct scene *scene)
{
	const struct placed_table placed = {scene->table, {true}, {0}, 0};

	return placed_table_hypercalls(&placed, &scene->cpu, &scene->guest->memory);
}

static void the_page_of_hypercalls_has_rules_once_it_is_filled(void **state)
{
	const uint64_t page = CODE - GUEST_PAGE_SIZE;
	struct scene scene = scene_new(&mode_4_level, 2);
	struct unwind_table *table;

	(void)state;
	map_new(scene.guest, page);
	scene.table->origin->hypercall_page = page;
	scene.cpu.x86.rip = CODE + 8;
	assert_null(find_hypercalls(&scene));
	fill_page(&scene, page);
	table = find_hypercalls(&scene);
	assert_non_null(table);
	assert_non_null(unwind_table_find(table, page + 31 * 32 + 8));
	assert_null(unwind_table_find(table, page + 32 * 32));
	unwind_table_free(table);

	/* A hypercall page at an unknown address is found where a vCPU executes it. */
	scene.table->origin->hypercall_page = 0;
	assert_null(find_hypercalls(&scene));
	scene.cpu.x86.rip = page + 29 * 32 + 5;
	table = find_hypercalls(&scene);
	assert_non_null(table);
	assert_non_null(unwind_table_find(table, page + 29 * 32 + 5));
	unwind_table_free(table);
	scene_free(&scene);
}

static void expect_rule(const struct unwind_table *table, uint64_t address, int32_t cfa)
{
	const struct unwind_rule *rule = unwind_table_find(table, address);

	assert_non_null(rule);
	assert_int_equal(rule->kind, UNWIND_CALLER);
	assert_int_equal(rule->caller, -8);
	assert_int_equal(rule->cfa, cfa);
	assert_int_equal(rule->fp, UNWIND_KEPT);
}

static void hypercalls_have_two_kinds_of_stubs(void **state)
{
	/* push %rcx; push %r11; mov $1,%eax; syscall; pop %r11; pop %rcx; ret */
	static const uint8_t pv[] = {0x51, 0x41, 0x53, 0xb8, 1,	   0,	 0,
				     0,	   0x0f, 0x05, 0x41, 0x5b, 0x59, 0xc3};
	/* mov $2,%eax; vmcall; ret */
	static const uint8_t hvm[] = {0xb8, 2, 0, 0, 0, 0x0f, 0x01, 0xc1, 0xc3};
	/* iret: push %rcx; push %r11; push %rax; mov $23,%eax; syscall */
	static const uint8_t iret[] = {0x51, 0x41, 0x53, 0x50, 0xb8, 23,
				       0,    0,	   0,	 0x0f, 0x05};
	struct unwind_builder *builder = unwind_builder_new();
	const uint64_t at = 0x400000;
	struct unwind_table *table;
	uint8_t page[4096];
	struct error err;

	(void)state;
	memset(page, 0xcc, sizeof(page));
	memcpy(page + 32, pv, sizeof(pv));
	memcpy(page + 64, hvm, sizeof(hvm));
	memcpy(page + 23 * 32, iret, sizeof(iret));
	assert_int_equal(unwind_table_add_hypercalls(builder, page, at, &err), 0);
	table = unwind_builder_finish(builder);
	assert_null(unwind_table_find(table, at));
	expect_rule(table, at + 32, 8);
	expect_rule(table, at + 33, 16);
	expect_rule(table, at + 42, 24);
	expect_rule(table, at + 45, 8);
	expect_rule(table, at + 64, 8);
	expect_rule(table, at + 72, 8);
	assert_null(unwind_table_find(table, at + 23 * 32));
	unwind_table_free(table);
	unwind_builder_free(builder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hypercalls_have_two_kinds_of_stubs),
		cmocka_unit_test(the_note_for_xen_has_the_page_of_hypercalls),
		cmocka_unit_test(the_page_of_hypercalls_has_rules_once_it_is_filled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */

/* Where unikernels have their threads, by uniprof's descriptions and files. */

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/fibers/description.h"
#include "tables/fibers/layout.h"
#include "base/random.h"

static char *folder; /* of the program */

static void read_sample(const char *name, struct fiber_file *file)
{
	char path[4096];
	FILE *from;
	long size;
	void *data;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	from = fopen(path, "r");
	assert_non_null(from);
	assert_int_equal(fseek(from, 0, SEEK_END), 0);
	size = ftell(from);
	rewind(from);
	data = malloc((size_t)size);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, (size_t)size, from), size);
	fclose(from);
	*file = (struct fiber_file){data, (size_t)size};
}

static size_t find_in_sample(const char *name, struct fiber_layout *layouts)
{
	struct fiber_file file;
	size_t count;

	read_sample(name, &file);
	count = fiber_layouts_find(layouts, &file);
	free((void *)(uintptr_t)file.data);
	for (size_t i = 0; i < count; i++)
		assert_true(fiber_layout_is_valid(&layouts[i]));
	return count;
}

static void types_tell_the_members(void **state)
{
	static const uint64_t frame[FIBER_FRAME] = {16, 15, 14, 13, 4, 6, 17};
	struct fiber_layout found[FIBER_LAYOUTS];

	(void)state;
	assert_int_equal(find_in_sample("fibers_new.so", found), 1);
	assert_int_equal(found->sched_list, 80);
	assert_int_equal(found->sched_next, 144);
	assert_int_equal(found->link, 200);
	assert_int_equal(found->name, 192);
	assert_int_equal(found->flags, 72);
	assert_int_equal(found->ip, 8);
	assert_int_equal(found->sp, 16);
	assert_int_equal(found->stack, 104);
	assert_int_equal(found->wakeup, 80);
	assert_int_equal(found->runtime, 184);
	assert_int_equal(found->currents, 3);
	assert_int_equal(found->runnable, 8);
	assert_memory_equal(found->frame, frame, sizeof(frame));

	assert_int_equal(find_in_sample("fibers_old.so", found), 1);
	assert_int_equal(found->sched_list, 64);
	assert_int_equal(found->link, 168);
	assert_int_equal(found->runtime, FIBER_NONE);
	assert_int_equal(found->runnable, 4);

	assert_int_equal(find_in_sample("fibers_minios.so", found), 1);
	assert_int_equal(found->sched_list, FIBER_NONE);
	assert_int_equal(found->current, FIBER_NONE);
	assert_int_equal(found->stack_size, 0x10000);
	assert_int_equal(found->link, 40);
	assert_int_equal(found->ip, 32);
	assert_int_equal(found->wakeup, 64);
}

static void without_types_there_is_a_layout_for_each_version(void **state)
{
	struct fiber_layout found[FIBER_LAYOUTS];

	(void)state;
	assert_int_equal(find_in_sample("fibers_bare.so", found), 3);
	assert_int_equal(found[0].sched_list, 72);
	assert_int_equal(found[0].link, 192);
	assert_int_equal(found[0].runtime, 176);
	assert_int_equal(found[1].sched_list, 64);
	assert_int_equal(found[1].sched_next, 120);
	assert_int_equal(found[1].link, 168);
	assert_int_equal(found[1].runtime, 152);
	assert_int_equal(found[2].sched_list, 56);
	assert_int_equal(found[2].link, 160);
	assert_int_equal(found[2].runtime, FIBER_NONE);
}

static void other_files_have_no_layout(void **state)
{
	struct fiber_layout found[FIBER_LAYOUTS];

	(void)state;
	assert_int_equal(find_in_sample("test_fibers", found), 0);
	assert_int_equal(fiber_layouts_find(found, &(struct fiber_file){"\177ELF", 4}),
			 0);
	assert_int_equal(fiber_layouts_find(found, &(struct fiber_file){"", 0}), 0);
}

/* Whatever is damaged in a file, what is found can be used. */
static void damaged_files_are_safe(void **state)
{
	static const char *const names[] = {"fibers_new.so", "fibers_minios.so"};
	uint64_t seed = 1;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fiber_file file;
		uint8_t *copy;

		read_sample(names[i], &file);
		copy = malloc(file.size);
		assert_non_null(copy);
		for (int round = 0; round < 300; round++) {
			struct fiber_layout found[FIBER_LAYOUTS];
			struct fiber_file damaged = {copy, file.size};
			size_t count;

			memcpy(copy, file.data, file.size);
			for (int j = 0; j < 1 + round % 16; j++)
				copy[random_next(&seed) % file.size] = (uint8_t)
					random_next(&seed);
			if (round % 8 == 0)
				damaged.size = random_next(&seed) % file.size;
			count = fiber_layouts_find(found, &damaged);
			assert_in_range(count, 0, FIBER_LAYOUTS);
			for (size_t j = 0; j < count; j++)
				assert_true(fiber_layout_is_valid(&found[j]));
		}
		free(copy);
		free((void *)(uintptr_t)file.data);
	}
}

static int read_all(const char *text, unsigned int *count, struct error *err)
{
	struct description_text from = {text, text + strlen(text), 0};
	struct description description;
	int status;

	*count = 0;
	while ((status = description_read(&from, &description, err)) == 1)
		++*count;
	return status;
}

static void uniprof_has_descriptions(void **state)
{
	struct description_text text = descriptions();
	struct description description;
	unsigned int count = 0;
	struct error err;
	int status;

	(void)state;
	while ((status = description_read(&text, &description, &err)) == 1) {
		assert_true(description.rows >= 10);
		assert_non_null(description.row[0].symbol);
		assert_string_not_equal(description.row[0].symbol, "");
		assert_string_not_equal(description.needs.type, "");
		assert_int_equal(description.frame_x86[6], FIBER_RETURN_X86 + 1);
		count++;
	}
	assert_int_equal(status, 0);
	assert_int_equal(count, 4);
}

static void wrong_descriptions_are_refused(void **state)
{
	static const char *const wrong[] = {
		"list @a",
		"[a\nlist @a",
		"[]\nlist @a",
		"[a]\nlist",
		"[a]\nlist @",
		"[a]\nlist @a b",
		"[a]\nlink a 1",
		"[a]\nlink a. 1",
		"[a]\nlink .a 1",
		"[a]\nlink a.b",
		"[a]\nlink a.b c",
		"[a]\nlink a.b -1",
		"[a]\nlink a.b 18446744073709551615",
		"[a]\nlink a.b 18446744073709551616",
		"[a]\nlink a.b 1 2",
		"[a]\nother a.b 1",
		"[a]\nneeds a",
		"[a]\nframe",
		"[a]\nframe x86-64",
		"[a]\nframe mips r1",
		"[a]\nframe x86-64 r16",
		"[a]\nframe arm64 x31",
		"[a]\nframe arm64 x",
		"[a]\nframe x86-64 - - - - - - - - - - - - - - - - -",
		"[a]\nlink aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.b 1",
		"[a]\nlink a.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb 1",
	};
	char many[2048] = "[a]\n";
	unsigned int count;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(read_all(wrong[i], &count, &err), -1);
		assert_string_equal(err.text,
				    strchr(wrong[i], '\n')
					    ? i == 1 || i == 2 ? "line 1 is no part of a "
								 "description"
							       : "line 2 is no part of a "
								 "description"
					    : "line 1 is no part of a "
					      "description");
	}
	for (int i = 0; i <= DESCRIPTION_ROWS; i++)
		strcat(many, "runnable 1\n");
	assert_int_equal(read_all(many, &count, &err), -1);
	memset(many, 'a', 300);
	many[300] = 0;
	assert_int_equal(read_all(many, &count, &err), -1);
	assert_int_equal(read_all("", &count, &err), 0);
	assert_int_equal(count, 0);
	assert_int_equal(read_all("# a\n\n[a]\n[b 1]  # c\nlist @a", &count, &err), 0);
	assert_int_equal(count, 2);
}

static void absurd_layouts_are_not_valid(void **state)
{
	const struct fiber_layout good = {
		.list = 1,
		.switch_code = 1,
		.sched_list = FIBER_NONE,
		.sched_next = FIBER_NONE,
		.current = FIBER_NONE,
		.stack_size = 0x4000,
		.wakeup = FIBER_NONE,
		.runtime = FIBER_NONE,
		.frame = {1, FIBER_SKIP, FIBER_RETURN_ARM64 + 1},
	};
	static const struct {
		size_t at;
		uint64_t number;
	} absurd[] = {
		{offsetof(struct fiber_layout, list), 0},
		{offsetof(struct fiber_layout, switch_code), 0},
		{offsetof(struct fiber_layout, currents), 65},
		{offsetof(struct fiber_layout, current), 0x1000}, /* but no number */
		{offsetof(struct fiber_layout, stack_size), 0},
		{offsetof(struct fiber_layout, stack_size), 0x3000},
		{offsetof(struct fiber_layout, stack_size), 1ull << 40},
		{offsetof(struct fiber_layout, sched_list), FIBER_OFFSET_MAX},
		{offsetof(struct fiber_layout, sched_list), 72}, /* and the last runs */
		{offsetof(struct fiber_layout, sched_next), FIBER_NONE - 1},
		{offsetof(struct fiber_layout, link), FIBER_NONE},
		{offsetof(struct fiber_layout, name), FIBER_OFFSET_MAX},
		{offsetof(struct fiber_layout, flags), FIBER_OFFSET_MAX},
		{offsetof(struct fiber_layout, sp), FIBER_OFFSET_MAX},
		{offsetof(struct fiber_layout, ip), FIBER_OFFSET_MAX},
		{offsetof(struct fiber_layout, stack), FIBER_NONE},
		{offsetof(struct fiber_layout, wakeup), FIBER_OFFSET_MAX},
		{offsetof(struct fiber_layout, runtime), FIBER_OFFSET_MAX},
		{offsetof(struct fiber_layout, runnable), 1ull << 32},
		{offsetof(struct fiber_layout, exited), 1ull << 32},
		{offsetof(struct fiber_layout, frame), 32},
		{offsetof(struct fiber_layout, frame), 0},
		{offsetof(struct fiber_layout, frame[2]), 5}, /* no return address */
	};

	(void)state;
	assert_true(fiber_layout_is_valid(&good));
	for (size_t i = 0; i < sizeof(absurd) / sizeof(absurd[0]); i++) {
		struct fiber_layout layout = good;

		memcpy((char *)&layout + absurd[i].at, &absurd[i].number,
		       sizeof(absurd[i].number));
		assert_false(fiber_layout_is_valid(&layout));
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_tell_the_members),
		cmocka_unit_test(without_types_there_is_a_layout_for_each_version),
		cmocka_unit_test(other_files_have_no_layout),
		cmocka_unit_test(damaged_files_are_safe),
		cmocka_unit_test(uniprof_has_descriptions),
		cmocka_unit_test(wrong_descriptions_are_refused),
		cmocka_unit_test(absurd_layouts_are_not_valid),
	};

	folder = argc ? argv[0] : NULL;
	assert(folder && strrchr(folder, '/'));
	*strrchr(folder, '/') = 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */

/* Where a kernel has its modules, from ELF files with made-up types. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tables/linux/layout.h"
#include "tests/unit/tables/test_btf.h"
#include "tests/unit/tables/test_cfi_file.h"

/* Variants of a kernel's types. */
struct types {
	bool in_pieces; /* as since Linux 6.4 */
	bool has_orc;
	uint32_t list; /* the place of the link */
};

static struct buffer types_of(const struct types *types)
{
	struct btf_maker maker = {0};
	uint32_t number = btf_type(&maker, "int", KIND_INT, 0), code, arch;

	code = btf_type(&maker, types->in_pieces ? "module_memory" : "module_layout",
			KIND_STRUCT, 3);
	btf_add(&maker, "base", number, 0);
	btf_add(&maker, "size", number, 8 * 8);
	btf_add(&maker, "text_size", number, 8 * 12);
	arch = btf_type(&maker, "mod_arch_specific", KIND_STRUCT, types->has_orc ? 3 : 0);
	if (types->has_orc) {
		btf_add(&maker, "num_orcs", number, 0);
		btf_add(&maker, "orc_unwind_ip", number, 8 * 8);
		btf_add(&maker, "orc_unwind", number, 8 * 16);
	}
	btf_type(&maker, "module", KIND_STRUCT, 5);
	btf_add(&maker, "state", number, 0);
	btf_add(&maker, "list", number, 8 * types->list);
	btf_add(&maker, "name", number, 8 * 24);
	btf_add(&maker, types->in_pieces ? "mem" : "core_layout", code, 8 * 320);
	btf_add(&maker, "arch", arch, 8 * 480);
	return btf_finish(&maker);
}

static bool find_in_file(struct module_layout *layout, const void *data, size_t size)
{
	struct linux_layouts layouts;

	linux_layouts_find(&layouts, data, size);
	*layout = layouts.modules;
	return layout->list != 0;
}

static bool find_layout(const struct types *types, struct module_layout *layout)
{
	struct buffer section = types_of(types);
	const struct file_section sections[] = {
		{".BTF", 0, section.data, section.size, false},
	};
	size_t size;
	uint8_t *file = make_elf(EM_X86_64, sections, 1, &size);
	bool found;

	assert_non_null(file);
	found = find_in_file(layout, file, size);
	free(file);
	buffer_free(&section);
	return found;
}

static void modules_are_found(void **state)
{
	struct types types = {.has_orc = true, .list = 8};
	struct module_layout layout;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		types.in_pieces = i == 1;
		assert_true(find_layout(&types, &layout));
		assert_int_equal(layout.state, 0);
		assert_int_equal(layout.list, 8);
		assert_int_equal(layout.name, 24);
		assert_int_equal(layout.base, 320);
		assert_int_equal(layout.size, types.in_pieces ? 328 : 332);
		assert_int_equal(layout.orcs, 480);
		assert_int_equal(layout.ips, 488);
		assert_int_equal(layout.rows, 496);
	}
}

static void kernels_that_lack_something_have_none(void **state)
{
	struct types types = {.has_orc = false, .list = 8};
	struct module_layout layout;

	(void)state;
	assert_false(find_layout(&types, &layout));
	types = (struct types){.has_orc = true, .list = MODULE_ALIGN - 8};
	assert_false(find_layout(&types, &layout));
	assert_false(find_in_file(&layout, "", 0));
	assert_false(find_in_file(&layout, "\177ELF", 4));
}

static void offsets_have_limits(void **state)
{
	const struct module_layout good = {.list = MODULE_ALIGN - 16,
					   .rows = MODULE_OFFSET_MAX - 1};

	(void)state;
	assert_true(module_layout_is_valid(&good));
	for (size_t i = 0; i < sizeof(good) / sizeof(uint64_t); i++) {
		struct module_layout layout = good;

		((uint64_t *)&layout)[i] = MODULE_OFFSET_MAX;
		assert_false(module_layout_is_valid(&layout));
		((uint64_t *)&layout)[i] = UINT64_MAX;
		assert_false(module_layout_is_valid(&layout));
	}
	assert_false(module_layout_is_valid(&(struct module_layout){.list = 0}));
	assert_false(module_layout_is_valid(&(struct module_layout){.list = 9}));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_are_found),
		cmocka_unit_test(kernels_that_lack_something_have_none),
		cmocka_unit_test(offsets_have_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

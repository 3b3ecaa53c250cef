/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Types of a Linux kernel (BTF) with arbitrary contents, alone, as a module's that
 * continue the kernel's, which are the same, and in a kernel's file: its first bytes are
 * then the rows of its exported symbols, which have names in the types.
 */

#include "tables/linux/btf.h"
#include "tables/linux/layout.h"
#include "tests/fuzz/check.h"
#include "tests/unit/tables/test_cfi_file.h"

#define ROWS_SIZE 48
#define ROWS	  0xffffffff82462390

static void read_types(const uint8_t *data, size_t size)
{
	uint64_t offset;
	struct btf btf, module;
	uint32_t bytes;

	if (!btf_open(&btf, data, size))
		return;
	check(btf.end <= size / 12 + 1);
	if (btf_member(&btf, "task_struct", "comm", &offset))
		check(offset < (uint64_t)1 << 33);
	btf_member(&btf, "mm_struct", "pgd", &offset);
	btf_member(&btf, "mm_struct", "pgd.comm", &offset);
	if (btf_open_module(&module, &btf, data, size)) {
		check(module.end == 2 * btf.end - 1);
		btf_member(&module, "mm_struct", "pgd.comm", &offset);
		btf_size(&module, "task_struct", &bytes);
		btf_close(&module);
	}
	btf_close(&btf);
}

static void read_kernel(const uint8_t *data, size_t size)
{
	size_t rows = size < ROWS_SIZE ? size : ROWS_SIZE, made;
	const struct file_section sections[] = {
		{"__ksymtab", ROWS, data, rows, false},
		{"__ksymtab_strings", ROWS + ROWS_SIZE, data + rows, size - rows, false},
		{".BTF", 0, data + rows, size - rows, false},
	};
	uint8_t *file = make_elf(EM_X86_64, sections, 3, &made);
	struct linux_layouts found;

	check(file != NULL);
	linux_layouts_find(&found, file, made);
	check(!found.tasks.per_cpu || task_layout_is_valid(&found.tasks));
	check(!found.modules.list || module_layout_is_valid(&found.modules));
	check(!found.threads.init || thread_layout_is_valid(&found.threads));
	check(!found.mappings.order || mapping_layout_is_valid(&found.mappings));
	free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_types(data, size);
	read_kernel(data, size);
	return 0;
}

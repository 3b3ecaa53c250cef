/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Arbitrary call frame information. The first byte of the input selects what the others
 * are: a whole ELF file, or the contents of .eh_frame or .debug_frame in a file for one
 * of the CPUs (see the list below). The table that results must give an answer for any
 * address.
 */

#include <stdlib.h>

#include "tables/cfi/cfi.h"
#include "tests/unit/tables/test_cfi_file.h"
#include "tests/fuzz/check.h"

static const struct {
	uint16_t machine;
	const char *section;
} kinds[] = {
	{EM_X86_64, ".eh_frame"},
	{EM_X86_64, ".debug_frame"},
	{EM_AARCH64, ".eh_frame"},
	{EM_AARCH64, ".debug_frame"},
};

static void check_table(struct unwind_builder *builder, uint64_t offset)
{
	struct unwind_table *table = unwind_builder_finish(builder);

	check(table != NULL);
	for (uint64_t at = 0; at < 2 * CODE_SIZE; at += 1021) {
		const struct unwind_rule *rule = unwind_table_find(table, at + offset);

		check(!rule || (rule->kind > UNWIND_UNKNOWN &&
				rule->kind <= UNWIND_CALLED_SYSTEM));
		/* Only code has rules. */
		check(!rule || offset || (at >= CODE && at < CODE + CODE_SIZE));
	}
	unwind_table_free(table);
}

static void add_file(const uint8_t *data, size_t size, uint64_t offset, bool is_whole)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct cfi_summary summary;
	struct error err = {{0}};
	int status;

	check(builder != NULL);
	status = unwind_table_add_cfi(builder, "file", data, size, offset, &summary,
				      &err);
	check((status == 0) == !err.text[0]);
	check(summary.unknown <= summary.rows);
	if (is_whole)
		check_table(builder, offset);
	unwind_builder_free(builder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int kind = size ? data[0] % 5 : 0;
	uint8_t *file;
	size_t made;

	if (!size)
		return 0;
	if (kind == 4) {
		add_file(data + 1, size - 1, 0, false);
		return 0;
	}
	file = make_file(kinds[kind].machine, kinds[kind].section, data + 1, size - 1,
			 &made);
	check(file != NULL);
	add_file(file, made, 0, true);
	add_file(file, made, (uint64_t)-1 << 40, true);
	free(file);
	return 0;
}

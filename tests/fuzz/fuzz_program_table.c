/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Table files with arbitrary contents behind right checksums: what is accepted can be
 * looked up, compared with a guest, and written again.
 */

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "format/buffer.h"
#include "tables/program_table.h"
#include "tests/fuzz/check.h"

/* Sets the checksums of the description and of the table after it (docs/table.md). */
static void mend(uint8_t *file, size_t size)
{
	size_t fields, table;

	if (size < 20)
		return;
	fields = get_le32(file + 16);
	if (fields > size - 20)
		return;
	put_le32(file + 12, (uint32_t)crc32_z(0, file + 16, fields + 4));
	table = 20 + fields;
	if (size - table >= 24)
		put_le32(file + table + 12,
			 (uint32_t)crc32_z(0, file + table + 16, size - table - 16));
}

/* A guest whose memory is one page, everywhere; without page tables. */
static const void *page(void *context, uint64_t frame)
{
	(void)frame;
	return context;
}

static void use(const struct program_table *table, const uint8_t *data, size_t size)
{
	static uint64_t contents[GUEST_PAGE_SIZE / 8];
	const struct guest_memory memory = {.page = page, .context = contents};
	struct cpu cpu = {.family = CPU_FAMILY_ARM};
	struct placed_table placed = {.table = table};
	struct unwind_table *moved;
	char text[100];
	struct error why;
	size_t bytes;

	memcpy(contents, data, size < sizeof(contents) ? size : sizeof(contents));
	check(table->origins > 0 && table->origins <= TABLE_ORIGINS);
	for (size_t i = 0; i < table->origins; i++)
		placed_table_find(&placed, i, &cpu, &memory, NULL, 0, &why);
	placed.shift[0] = (uint64_t)1 << 21;
	moved = placed_table_make(&placed);
	if (moved)
		unwind_table_find(moved, program_table_linux(table));
	unwind_table_free(moved);
	program_table_names(table, text, sizeof(text));
	check(strlen(text) < sizeof(text));
	placed_table_build_ids(&placed, text, sizeof(text));
	check(strlen(text) < sizeof(text));
	check(unwind_table_memory(table->table, &bytes) != NULL);
	for (size_t i = 0; i + 8 <= size; i += 8) {
		uint64_t address;

		memcpy(&address, data + i, sizeof(address));
		unwind_table_find(table->table, address);
		unwind_table_find(table->table, address & 0xffffff);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *file = malloc(size + 1);
	struct program_table *table;
	struct error err = {""};

	check(file != NULL);
	memcpy(file, data, size);
	mend(file, size);
	table = program_table_parse(file, size, "fuzz", &err);
	check(table || err.text[0]);
	if (table)
		use(table, data, size);
	program_table_free(table);
	free(file);
	return 0;
}

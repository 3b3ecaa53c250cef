/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Unwind tables from arbitrary files. The input is a table's file (docs/table.md); its
 * checksum is corrected, so that the rest is read. A table that is accepted must be equal
 * after writing and reading it, and give an answer for any address.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "format/buffer.h"
#include "tables/build.h"
#include "tables/rows_file.h"
#include "tests/fuzz/check.h"

static struct unwind_table *read_again(const struct unwind_table *table)
{
	int file = memfd_create("table", MFD_CLOEXEC);
	struct unwind_table *again;
	struct error err;
	uint8_t *data;
	off_t size;

	check(file >= 0);
	check(unwind_table_write(table, file, &err) == 0);
	size = lseek(file, 0, SEEK_CUR);
	data = malloc((size_t)size);
	check(data && pread(file, data, (size_t)size, 0) == size);
	again = unwind_table_read(data, (size_t)size, &err);
	check(again != NULL);
	free(data);
	close(file);
	return again;
}

static void check_lookup(const struct unwind_table *table,
			 const struct unwind_table *again, uint64_t address)
{
	const struct unwind_rule *a = unwind_table_find(table, address);
	const struct unwind_rule *b = unwind_table_find(again, address);

	check((a != NULL) == (b != NULL));
	if (!a)
		return;
	check(a->kind > UNWIND_UNKNOWN && a->kind <= UNWIND_CALLED_SYSTEM);
	check(a->kind == b->kind && a->from_fp == b->from_fp &&
	      a->from_word == b->from_word && a->fp_by_register == b->fp_by_register &&
	      a->word == b->word && a->cfa == b->cfa && a->caller == b->caller &&
	      a->fp == b->fp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	struct unwind_table *table, *again;
	struct error err = {{0}};

	check(copy != NULL);
	memcpy(copy, data, size);
	if (size >= 16)
		put_le32(copy + 12, (uint32_t)crc32_z(0, copy + 16, size - 16));
	table = unwind_table_read(copy, size, &err);
	check((table != NULL) == !err.text[0]);
	if (!table)
		goto out;
	again = read_again(table);
	for (size_t i = 0; i + 8 <= size; i++) {
		uint64_t address;

		memcpy(&address, data + i, 8);
		check_lookup(table, again, address);
		check_lookup(table, again, address & 0xffff);
		check_lookup(table, again, i * 512);
	}
	check_lookup(table, again, UINT64_MAX);
	unwind_table_free(table);
	unwind_table_free(again);
out:
	free(copy);
	return 0;
}

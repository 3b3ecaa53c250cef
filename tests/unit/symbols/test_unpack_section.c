/* SPDX-License-Identifier: BSD-3-Clause */

/* Compressed sections give exactly their contents, or nothing. */

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "symbols/elf/unpack.h"

#define SIZE	   100000
#define ZSTD_TYPE  2 /* ELF gABI, "Section Compression" */
#define OTHER_TYPE 3

static uint8_t contents[SIZE];
static uint8_t packed[2 * SIZE];

static void expect_contents(unsigned int type, size_t size)
{
	uint8_t *unpacked = unpack_section(type, packed, size, SIZE);

	assert_non_null(unpacked);
	assert_memory_equal(unpacked, contents, SIZE);
	free(unpacked);
	assert_null(unpack_section(type, packed, size - 1, SIZE));
	assert_null(unpack_section(type, packed, size, SIZE - 1));
	assert_null(unpack_section(type, packed, size, SIZE + 1));
	assert_null(unpack_section(type, packed, size, 0));
	assert_null(unpack_section(OTHER_TYPE, packed, size, SIZE));
	/* More memory than any contents need. */
	assert_null(unpack_section(type, packed, size, (uint64_t)1 << 31));
	packed[size / 2] ^= 0xff;
	unpacked = unpack_section(type, packed, size, SIZE);
	assert_true(!unpacked || memcmp(unpacked, contents, SIZE) != 0);
	free(unpacked);
}

static void zlib_and_zstd_are_unpacked(void **state)
{
	uLongf size = sizeof(packed);
	size_t zstd_size;

	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		contents[i] = (uint8_t)(i * i >> 7);
	assert_int_equal(compress(packed, &size, contents, SIZE), Z_OK);
	expect_contents(ELFCOMPRESS_ZLIB, size);
	zstd_size = ZSTD_compress(packed, sizeof(packed), contents, SIZE, 3);
	assert_false(ZSTD_isError(zstd_size));
	expect_contents(ZSTD_TYPE, zstd_size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zlib_and_zstd_are_unpacked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

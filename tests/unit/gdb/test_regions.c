/* SPDX-License-Identifier: BSD-3-Clause */

/* Where a guest has memory: only that may be read. The text is of QEMU 7.2, shortened. */

#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gdb/regions.h"

static const char views[] =
	"FlatView #0\r\n AS \"I/O\", root: io\r\n Root memory region: io\r\n"
	"  0000000000001000-0000000000001fff (prio 0, ram): not memory\r\n\r\n"
	"FlatView #1\r\n AS \"memory\", root: system\r\n AS \"cpu-memory-0\", root: "
	"system\r\n"
	" Root memory region: system\r\n"
	"  0000000000000000-00000000000bffff (prio 0, ram): pc.ram\r\n"
	"  00000000000c0000-00000000000dffff (prio 1, rom): pc.rom\r\n"
	"  00000000000f0000-0000000007ffffff (prio 0, ram): pc.ram @00000000000f0000\r\n"
	"  00000000fec00000-00000000fec00fff (prio 0, i/o): ioapic\r\n"
	"  00000000fed00000-00000000fed00fff (prio 0, romd): flash\r\n"
	"  0000000100000000-00000001000007ff (prio 0, nv-ram): half a page\r\n\r\n"
	"FlatView #2\r\n AS \"device\", root: bus\r\n"
	"  0000000009000000-0000000009ffffff (prio 0, ram): not the guest's\r\n";

static void only_memory_counts(void **state)
{
	struct gdb_regions regions;

	(void)state;
	assert_true(gdb_regions_parse(&regions, views));
	assert_int_equal(regions.count, 4);
	assert_true(gdb_regions_have(&regions, 0));
	assert_true(gdb_regions_have(&regions, 0xbf));
	assert_true(gdb_regions_have(&regions, 0xc0));
	assert_false(gdb_regions_have(&regions, 0xe0));
	assert_true(gdb_regions_have(&regions, 0x7fff));
	assert_false(gdb_regions_have(&regions, 0x8000));
	assert_false(gdb_regions_have(&regions, 0x9000));
	assert_false(gdb_regions_have(&regions, 0xfec00));
	assert_false(gdb_regions_have(&regions, 0xfed00));
	assert_false(gdb_regions_have(&regions, 0x100000));
	assert_false(gdb_regions_have(&regions, UINT64_MAX));
	assert_false(gdb_regions_have(&regions, 1ull << 52));
	assert_int_equal(gdb_regions_size(&regions), 0xe0000 + 0x7f10000 + 0x800);
}

static void other_texts_have_no_memory(void **state)
{
	struct gdb_regions regions;

	(void)state;
	assert_false(gdb_regions_parse(&regions, ""));
	assert_false(gdb_regions_parse(&regions, "unknown command: 'info'\r\n"));
	assert_false(gdb_regions_parse(&regions,
				       "FlatView #0\n AS \"memory\", root: system\n"
				       "  2000-1fff (prio 0, ram): none\n"
				       "  0-fff (prio 0, ramx): other\n"));
}

static void too_many_are_left_out(void **state)
{
	static char text[64 * (REGIONS_MAX + 8)];
	struct gdb_regions regions;
	size_t used = (size_t)snprintf(text, sizeof(text), " AS \"memory\", root\n");

	(void)state;
	for (int i = 0; i < REGIONS_MAX + 4; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "  %x000-%xfff (prio 0, ram): x\n", i, i);
	assert_true(gdb_regions_parse(&regions, text));
	assert_int_equal(regions.count, REGIONS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_memory_counts),
		cmocka_unit_test(other_texts_have_no_memory),
		cmocka_unit_test(too_many_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

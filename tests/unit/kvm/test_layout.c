/* SPDX-License-Identifier: BSD-3-Clause */

/* Candidates for where a guest's memory is in its VMM. */

#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kvm/memory/layout.h"
#include "kvm/vmm.h"

#define GIB (1ull << 30)
#define MIB (1ull << 20)

static struct layout layouts[LAYOUT_CANDIDATES + 1];

static struct proc_map memory(uint64_t start, uint64_t size)
{
	return (struct proc_map){
		.start = start, .end = start + size, .readable = true, .writable = true};
}

/* Whether a candidate has exactly these regions. */
static bool has(size_t count, const struct layout *wanted)
{
	for (size_t i = 0; i < count; i++)
		if (layouts[i].count == wanted->count &&
		    memcmp(layouts[i].region, wanted->region,
			   wanted->count * sizeof(*wanted->region)) == 0)
			return true;
	return false;
}

static void a_small_guest_is_the_largest_mapping(void **state)
{
	struct proc_map maps[] = {memory(0x1000, 4096), memory(0x100000, 64 * MIB),
				  memory(0x10000000, 8 * MIB),
				  memory(0x20000000, 512 * MIB)};
	size_t count;

	(void)state;
	maps[3].executable = true; /* code made at run time */
	count = layout_candidates(maps, 4, NULL, layouts);
	assert_int_equal(count, 2);
	assert_int_equal(layouts[0].count, 1);
	assert_true(layouts[0].region[0].guest == 0);
	assert_true(layouts[0].region[0].size == 64 * MIB);
	assert_true(layouts[0].region[0].address == 0x100000);
	assert_true(layouts[1].region[0].address == 0x10000000);
	assert_true(layout_memory(maps, 4) == 64 * MIB);
	assert_true(layout_memory(maps, 0) == 0);
}

static void the_memory_of_all_cells_is_summed_up(void **state)
{
	struct proc_map maps[] = {
		memory(0x100000, 2 * GIB),	memory(0x100000000, 1 * GIB),
		memory(0x200000000, 512 * MIB), /* added while the guest runs */
		memory(0x300000000, 64 * MIB),	/* an arena of malloc(3) */
		memory(0x400000000, 8 * MIB),	/* a stack */
		memory(0x500000000, 256 * MIB),
	};

	(void)state;
	maps[5].is_device = true;
	assert_true(layout_memory(maps, 6) == 3 * GIB + 512 * MIB);
	/* Two equal cells of a small guest, and a stack. */
	maps[0] = memory(0x100000, 32 * MIB);
	maps[1] = memory(0x100000000, 32 * MIB);
	maps[2] = memory(0x200000000, 8 * MIB);
	assert_true(layout_memory(maps, 3) == 64 * MIB);
}

static void the_gap_is_where_known_vmms_have_it(void **state)
{
	const struct proc_map map = memory(0x7f0000000000, 8 * GIB);
	static const uint64_t gaps[] = {0x80000000, 0xc0000000, 0xd0000000, 0xe0000000};
	size_t count = layout_candidates(&map, 1, NULL, layouts);

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct layout cut = {
			.region = {{0, gaps[i], map.start},
				   {4 * GIB, 8 * GIB - gaps[i], map.start + gaps[i]}},
			.count = 2,
		};

		assert_true(has(count, &cut));
		/* The kernel has joined two mappings, the upper one first. */
		cut.region[0].address = map.end - gaps[i];
		cut.region[1].address = map.start;
		assert_true(has(count, &cut));
	}
}

static void between_two_and_four_gib_there_are_more_ways(void **state)
{
	const struct proc_map map = memory(0x7f0000000000, 0xa0000000);
	const struct layout whole = {.region = {{0, 0xa0000000, map.start}}, .count = 1};
	size_t count = layout_candidates(&map, 1, NULL, layouts);

	(void)state;
	assert_true(has(count, &whole));
	assert_int_equal(layouts[0].count, 1);
	assert_true(count > 1);
}

/* The first candidate for 4 GiB of a VMM. */
#define FIRST_OF(kind, arguments, size) \
	first_of(vmm_split(kind, arguments, sizeof(arguments)), size)

static const struct layout *first_of(const struct layout_split *split, uint64_t size)
{
	const struct proc_map map = memory(0x7f0000000000, size);

	assert_true(layout_candidates(&map, 1, split, layouts) > 0);
	return layouts;
}

static void the_first_one_is_that_of_the_machine(void **state)
{
	const struct layout *first;

	(void)state;
	first = FIRST_OF("QEMU", "qemu\0-M\0q35,smm=off", 4 * GIB);
	assert_int_equal(first->count, 2);
	assert_true(first->region[0].size == 2 * GIB);
	assert_true(first->region[1].guest == 4 * GIB &&
		    first->region[1].size == 2 * GIB);
	first = FIRST_OF("QEMU", "qemu\0-machine\0pc-q35-7.2", 0xa0000000);
	assert_int_equal(first->count, 1);
	first = FIRST_OF("QEMU", "qemu\0-m\0004G", 4 * GIB);
	assert_true(first->region[0].size == 3 * GIB);
	first = FIRST_OF("QEMU", "qemu\0-M\0pc", 3 * GIB);
	assert_int_equal(first->count, 1);
	first = FIRST_OF("QEMU", "qemu\0-M\0microvm", 4 * GIB);
	assert_true(first->region[0].size == 3 * GIB);
	first = FIRST_OF("Firecracker", "firecracker", 4 * GIB);
	assert_true(first->region[0].size == 0xd0000000);
	first = FIRST_OF("cloud-hypervisor", "cloud-hypervisor", 4 * GIB);
	assert_true(first->region[0].size == 3 * GIB);
	assert_null(vmm_split("vmm", "vmm", 4));
}

static void parts_in_two_mappings_are_put_together(void **state)
{
	const struct proc_map maps[] = {memory(0x7e0000000000, 0xd0000000),
					memory(0x7f0000000000, GIB)};
	const struct layout both = {
		.region = {{0, 0xd0000000, maps[0].start}, {4 * GIB, GIB, maps[1].start}},
		.count = 2};

	(void)state;
	assert_true(has(layout_candidates(maps, 2, NULL, layouts), &both));
}

static void mappings_of_one_size_are_put_in_a_row(void **state)
{
	const struct proc_map maps[] = {memory(0x7e0000000000, 2 * GIB),
					memory(0x7f0000000000, 2 * GIB),
					memory(0x700000000000, MIB)};
	static const struct layout_split split = {0xe0000000, 0xc0000000};
	struct layout up = {.region = {{0, 2 * GIB, maps[0].start},
				       {2 * GIB, 2 * GIB, maps[1].start}},
			    .count = 2};
	struct layout down = {.region = {{0, 2 * GIB, maps[1].start},
					 {2 * GIB, GIB, maps[0].start},
					 {4 * GIB, GIB, maps[0].start + GIB}},
			      .count = 3};

	(void)state;
	assert_true(has(layout_candidates(maps, 3, NULL, layouts), &up));
	assert_true(has(layout_candidates(maps, 3, &split, layouts), &down));
}

static struct kernel_slots slots;

static void add_slot(uint64_t guest, uint64_t size, uint64_t address)
{
	slots.slot[slots.count++] = (struct kernel_slot){
		guest >> GUEST_PAGE_SHIFT, size >> GUEST_PAGE_SHIFT, address};
}

/* Whatever the order and the number of slots is, a page is found in its own. */
static void slots_are_the_layout(void **state)
{
	struct layout *layout = &layouts[0];

	(void)state;
	slots.count = 0;
	add_slot(4 * GIB, GIB, 0x7f0000000000);
	add_slot(0xf0000, 64 << 10, 0x7e0000000000);
	add_slot(0x100000, 512 * MIB, 0x7d0000100000);
	add_slot(0, 0xf0000, 0x7d0000000000);
	layout_of_slots(&slots, NULL, 0, layout);
	assert_int_equal(layout->count, 4);
	assert_int_equal(layout_region(layout, 0), 0);
	assert_int_equal(layout_region(layout, 0xef), 0);
	assert_int_equal(layout_region(layout, 0xff), 1);
	assert_true(region_address(&layout->region[1], 0xff) == 0x7e000000f000);
	assert_int_equal(layout_region(layout, 0x100), 2);
	assert_int_equal(layout_region(layout, 0x200ff), 2);
	assert_int_equal(layout_region(layout, 0x20100), 4); /* none */
	assert_int_equal(layout_region(layout, 4 * GIB >> 12), 3);
	assert_int_equal(layout_region(layout, (5 * GIB >> 12) - 1), 3);
	assert_int_equal(layout_region(layout, 5 * GIB >> 12), 4);
	assert_int_equal(layout_region(layout, UINT64_MAX), 4);
	slots.count = 0;
	for (uint64_t i = 0; i < KERNEL_SLOTS_MAX; i++)
		add_slot((i * 7 % KERNEL_SLOTS_MAX) * MIB, MIB, (i + 1) << 32);
	layout_of_slots(&slots, NULL, 0, layout);
	assert_int_equal(layout->count, KERNEL_SLOTS_MAX);
	for (unsigned int i = 0; i < KERNEL_SLOTS_MAX; i++)
		assert_int_equal(layout_region(layout, i * 256 + 255), i);
}

/* A VMM chooses its slots. */
static void slots_without_memory_are_left_out(void **state)
{
	struct proc_map maps[] = {memory(0x7d0000000000, GIB),
				  memory(0x7e0000000000, GIB)};

	(void)state;
	maps[1].is_device = true;
	slots.count = 0;
	add_slot(0, MIB, 0x7d0000000000);
	add_slot(GIB, 0, 0x7d0000000000);
	add_slot(2 * GIB, MIB, 0x7e0000001000);	      /* a device */
	add_slot(3 * GIB, 2 * GIB, UINT64_MAX - GIB); /* beyond all addresses */
	add_slot(UINT64_MAX - GIB, GIB, 0x7d0000000000);
	slots.slot[slots.count++] = (struct kernel_slot){1, UINT64_MAX, 0x1000};
	slots.slot[slots.count++] = (struct kernel_slot){UINT64_MAX, 1, 0x1000};
	layout_of_slots(&slots, maps, 2, &layouts[0]);
	assert_int_equal(layouts[0].count, 1);
	assert_true(layouts[0].region[0].address == 0x7d0000000000);
}

static void any_number_of_mappings_gives_a_bounded_number(void **state)
{
	struct proc_map maps[100];
	size_t count;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		maps[i] = memory(i << 40, i % 2 ? 0xc0000000 : (i + 1) * GIB);
	memset(&layouts[LAYOUT_CANDIDATES], 0xa5, sizeof(*layouts));
	count = layout_candidates(maps, 100, NULL, layouts);
	assert_in_range(count, 1, LAYOUT_CANDIDATES);
	for (size_t i = 0; i < sizeof(*layouts); i++)
		assert_int_equal(((uint8_t *)&layouts[LAYOUT_CANDIDATES])[i], 0xa5);
	/* The largest first. */
	assert_true(layouts[0].region[0].address == 98ull << 40);
	assert_int_equal(layout_candidates(maps, 0, NULL, layouts), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_guest_is_the_largest_mapping),
		cmocka_unit_test(the_memory_of_all_cells_is_summed_up),
		cmocka_unit_test(the_gap_is_where_known_vmms_have_it),
		cmocka_unit_test(between_two_and_four_gib_there_are_more_ways),
		cmocka_unit_test(the_first_one_is_that_of_the_machine),
		cmocka_unit_test(parts_in_two_mappings_are_put_together),
		cmocka_unit_test(mappings_of_one_size_are_put_in_a_row),
		cmocka_unit_test(slots_are_the_layout),
		cmocka_unit_test(slots_without_memory_are_left_out),
		cmocka_unit_test(any_number_of_mappings_gives_a_bounded_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

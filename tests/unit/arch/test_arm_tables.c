/* SPDX-License-Identifier: BSD-3-Clause */

/* ARM page tables: every format, granule and size, and hostile tables. */

#include "tests/unit/arch/test_arm.h"

#define UPPER(bits) (UINT64_MAX << (bits))

/* How addresses are split is listed, not computed: table D8-14 and those that follow it,
 * and figures G5-6 and G5-7. */

static const struct mode modes[] = {
	MODE("4K, 39 bits", EL1, TCR_4K | TCR_SIZES(39, 39), LONG, 0, CUT(30, 21, 12),
	     CUT(9, 9, 9)),
	MODE("4K, 48 bits", EL1, TCR_4K | TCR_SIZES(48, 48), LONG, 0, CUT(39, 30, 21, 12),
	     CUT(9, 9, 9, 9)),
	MODE("4K, upper 48 bits", EL1, TCR_4K | TCR_SIZES(39, 48), LONG, UPPER(48),
	     CUT(39, 30, 21, 12), CUT(9, 9, 9, 9)),
	MODE("4K, 42 bits", EL1, TCR_4K | TCR_SIZES(42, 39), LONG, 0, CUT(39, 30, 21, 12),
	     CUT(3, 9, 9, 9)),
	MODE("4K, 36 bits", EL1, TCR_4K | TCR_SIZES(36, 39), LONG, 0, CUT(30, 21, 12),
	     CUT(6, 9, 9)),
	MODE("4K, 32 bits", EL1, TCR_4K | TCR_SIZES(32, 39), LONG, 0, CUT(30, 21, 12),
	     CUT(2, 9, 9)),
	MODE("4K, 25 bits", EL1, TCR_4K | TCR_SIZES(25, 39), LONG, 0, CUT(21, 12),
	     CUT(4, 9)),
	MODE("4K, 52 bits", EL1, TCR_4K | TCR_SIZES(52, 52) | TCR_DS | TCR_52_BIT,
	     LONG_DS, 0, CUT(48, 39, 30, 21, 12), CUT(4, 9, 9, 9, 9)),
	MODE("4K, upper 52 bits", EL1, TCR_4K | TCR_SIZES(48, 52) | TCR_DS | TCR_52_BIT,
	     LONG_DS, UPPER(52), CUT(48, 39, 30, 21, 12), CUT(4, 9, 9, 9, 9)),
	MODE("16K, 36 bits", EL1, TCR_16K | TCR_SIZES(36, 47), LONG, 0, CUT(25, 14),
	     CUT(11, 11)),
	MODE("16K, 47 bits", EL1, TCR_16K | TCR_SIZES(47, 47), LONG, 0, CUT(36, 25, 14),
	     CUT(11, 11, 11)),
	MODE("16K, 48 bits", EL1, TCR_16K | TCR_SIZES(48, 47), LONG, 0,
	     CUT(47, 36, 25, 14), CUT(1, 11, 11, 11)),
	MODE("16K, upper 47 bits", EL1, TCR_16K | TCR_SIZES(36, 47), LONG, UPPER(47),
	     CUT(36, 25, 14), CUT(11, 11, 11)),
	MODE("16K, 52 bits", EL1, TCR_16K | TCR_SIZES(52, 47) | TCR_DS | TCR_52_BIT,
	     LONG_DS, 0, CUT(47, 36, 25, 14), CUT(5, 11, 11, 11)),
	MODE("64K, 42 bits", EL1, TCR_64K | TCR_SIZES(42, 42), LONG_64K, 0, CUT(29, 16),
	     CUT(13, 13)),
	MODE("64K, 48 bits", EL1, TCR_64K | TCR_SIZES(48, 42), LONG_64K, 0,
	     CUT(42, 29, 16), CUT(6, 13, 13)),
	MODE("64K, 52 bits", EL1, TCR_64K | TCR_SIZES(52, 52) | TCR_52_BIT, LONG_64K, 0,
	     CUT(42, 29, 16), CUT(10, 13, 13)),
	MODE("64K, upper 52 bits", EL1, TCR_64K | TCR_SIZES(42, 52) | TCR_52_BIT,
	     LONG_64K, UPPER(52), CUT(42, 29, 16), CUT(10, 13, 13)),
	MODE("32 bits under AArch64", USR, TCR_4K | TCR_SIZES(48, 48), LONG, 0,
	     CUT(39, 30, 21, 12), CUT(9, 9, 9, 9)),
	MODE("LPAE", SVC, TTBCR_EAE, LONG, 0, CUT(30, 21, 12), CUT(2, 9, 9)),
	MODE("LPAE, lower 2 GiB", SVC, TTBCR_EAE | 1, LONG, 0, CUT(30, 21, 12),
	     CUT(1, 9, 9)),
	MODE("LPAE, lower 1 GiB", USR, TTBCR_EAE | 2, LONG, 0, CUT(21, 12), CUT(9, 9)),
	MODE("LPAE, lower 32 MiB", SVC, TTBCR_EAE | 7, LONG, 0, CUT(21, 12), CUT(4, 9)),
	MODE("LPAE, above the lower 2 GiB", SVC, TTBCR_EAE | 1, LONG, 1ull << 31,
	     CUT(30, 21, 12), CUT(2, 9, 9)),
	MODE("LPAE, below the upper 1 GiB", SVC, TTBCR_EAE | 2 << 16, LONG, 0,
	     CUT(30, 21, 12), CUT(2, 9, 9)),
	MODE("LPAE, upper 1 GiB", SVC, TTBCR_EAE | 2 << 16, LONG, 3ull << 30, CUT(21, 12),
	     CUT(9, 9)),
	MODE("LPAE, upper 2 GiB of two", SVC, TTBCR_EAE | 1 << 16 | 2, LONG, 1ull << 31,
	     CUT(30, 21, 12), CUT(1, 9, 9)),
	MODE("short", SVC, 0, SHORT, 0, CUT(20, 12), CUT(12, 8)),
	MODE("short, lower 512 MiB", SVC, 3, SHORT, 0, CUT(20, 12), CUT(9, 8)),
	MODE("short, lower 32 MiB", USR, 7, SHORT, 0, CUT(20, 12), CUT(5, 8)),
	MODE("short, above the lower 2 GiB", SVC, 1, SHORT, 1ull << 31, CUT(20, 12),
	     CUT(12, 8)),
};

static struct guest *new_guest(const struct mode *mode)
{
	struct guest *guest = guest_new(mode);

	/* Xen provides it for guests with an AArch64 kernel. */
	if (mode && strstr(mode->name, "under"))
		guest->cpu.sp_el1 = 0xffff000012340000;
	return guest;
}

static const struct mode *mode_named(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(modes); i++)
		if (!strcmp(modes[i].name, name))
			return &modes[i];
	fail_msg("no mode %s", name);
	return NULL;
}

static void expect_frame(struct guest *guest, uint64_t address, uint64_t wanted)
{
	uint64_t frame = ~wanted;

	guest->calls = 0;
	assert_int_equal(arm_translate(&guest->cpu, &guest->memory, address, &frame),
			 TRANSLATED);
	assert_int_equal(frame, wanted);
	assert_true(guest->calls <= READ_PAGES_MAX - 1);
}

static void expect_none(struct guest *guest, uint64_t address, enum translation why)
{
	uint64_t frame = 0;

	guest->calls = 0;
	assert_int_equal(arm_translate(&guest->cpu, &guest->memory, address, &frame),
			 why);
	assert_true(guest->calls <= READ_PAGES_MAX - 1);
}

/* The number of address bits that the tables of the mode translate. */
static unsigned int bits_of(const struct mode *mode)
{
	return mode->shift[0] + mode->bits[0];
}

/* Maps a page or block, and looks up its first, last and some other addresses. */
static void expect_page(const struct mode *mode, uint64_t address, uint64_t physical,
			unsigned int shift)
{
	struct guest *guest = new_guest(mode);
	uint64_t size = 1ull << shift;

	map(guest, address, physical, shift);
	expect_frame(guest, address, physical >> 12);
	expect_frame(guest, address + size - 1, (physical + size - 1) >> 12);
	for (uint64_t offset = 0; offset < size; offset += size / 16 + 8)
		expect_frame(guest, address + offset, (physical + offset) >> 12);
	/* Its neighbour is not mapped. Where one entry is half of what there is, that can
	 * be the other tables'. */
	if (shift < 30 || mode->bits[0] > 2)
		expect_none(guest, address ^ size, NOT_PRESENT);
	free(guest);
}

/* Physical addresses have 40 bits with LPAE, 32 with short descriptors. */
static unsigned int physical_bits(const struct mode *mode)
{
	if (mode->descriptors == SHORT)
		return 32;
	if (!strncmp(mode->name, "LPAE", 4))
		return 40;
	return mode->descriptors == LONG ? 48 : 52;
}

static void pages_and_blocks_of_every_size_are_translated_in_every_mode(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		const struct mode *mode = &modes[i];
		uint64_t all = 1ull << physical_bits(mode);
		uint64_t top = mode->base + ((1ull << bits_of(mode)) - 1);

		if (mode->cpsr != CPSR_EL1 && top >> 32)
			top = 0xffffffff;
		if (!strcmp(mode->name, "LPAE, below the upper 1 GiB"))
			top = 0xbfffffff;
		if (mode->upper && mode->cpsr == CPSR_EL1)
			top = UINT64_MAX;
		for (unsigned int level = 0; level < mode->levels; level++) {
			unsigned int shift = mode->shift[level];
			uint64_t size = 1ull << shift;

			/* Blocks of 512 GiB, and of 64 GiB, are LPA2's, and there are
			 * none of 4 TiB before LPA, and none larger. */
			if (shift > 42 || (shift == 39 && mode->descriptors != LONG_DS) ||
			    (shift == 36 && mode->descriptors != LONG_DS))
				continue;
			expect_page(mode, mode->base, all - size, shift);
			expect_page(mode, top - size + 1, all / 2, shift);
			expect_page(mode,
				    mode->base + (top - mode->base) / 3 / size * size,
				    (all / 3 * 2) / size * size, shift);
		}
	}
}

static void invalid_block_and_page_descriptors_are_not_present(void **state)
{
	static const struct {
		const char *name;
		unsigned int level;
	} none[] = {
		{"4K, 48 bits", 0},  {"4K, upper 48 bits", 0}, {"4K, 52 bits", 0},
		{"16K, 47 bits", 0}, {"16K, 48 bits", 0},      {"16K, 48 bits", 1},
		{"16K, 52 bits", 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(none); i++) {
		const struct mode *mode = mode_named(none[i].name);
		struct guest *guest = new_guest(mode);

		set_entry(guest, entry_of(guest, mode->base, none[i].level), 1);
		expect_none(guest, mode->base, NOT_PRESENT);
		free(guest);
	}
	/* And a page's descriptor has both bits set. */
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		const struct mode *mode = &modes[i];
		struct guest *guest = new_guest(mode);

		if (mode->descriptors != SHORT) {
			set_entry(guest, entry_of(guest, mode->base, mode->levels - 1),
				  0x5000 | 1);
			expect_none(guest, mode->base, NOT_PRESENT);
		}
		free(guest);
	}
}

static void several_pages_are_translated_independently(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		const struct mode *mode = &modes[i];
		struct guest *guest = new_guest(mode);
		uint64_t size = 1ull << granule_of(mode), seed = i;

		for (uint64_t j = 0; j < 30; j++)
			map(guest, mode->base + j * size * 3, (j + 5) * size,
			    granule_of(mode));
		for (uint64_t j = 0; j < 30; j++) {
			uint64_t offset = random_next(&seed) % size;

			expect_frame(guest, mode->base + j * size * 3 + offset,
				     ((j + 5) * size + offset) >> 12);
		}
		free(guest);
	}
}

static void attributes_and_protections_are_ignored(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		const struct mode *mode = &modes[i];
		struct guest *guest = new_guest(mode);
		unsigned int granule = granule_of(mode);
		uint64_t at;

		if (mode->descriptors == SHORT) {
			map(guest, mode->base, 0x5000, granule);
			at = entry_of(guest, mode->base, 0);
			set_entry(guest, at, get_entry(guest, at) | 0x3fc);
			at = entry_of(guest, mode->base, 1);
			set_entry(guest, at, get_entry(guest, at) | 0xfff);
		} else {
			map(guest, mode->base, 5ull << granule, granule);
			for (unsigned int level = 0; level < mode->levels; level++) {
				/* Bits 9 and 8 are of the address with LPA2, and of a
				 * table there is nothing from bit 2 on. */
				uint64_t low = mode->descriptors == LONG_DS ? 0xcfc
									    : 0xffc;

				at = entry_of(guest, mode->base, level);
				set_entry(guest, at,
					  get_entry(guest, at) | low | 0xffull << 52);
			}
		}
		expect_frame(guest, mode->base, (5ull << granule) >> 12);
		free(guest);
	}
}

static void sections_and_large_pages_are_translated(void **state)
{
	struct guest *guest = new_guest(mode_named("short"));
	const uint64_t super = 0x5ull << 36 | 0xaull << 32 | 0x34000000;
	const uint64_t at = 0x56000000;

	(void)state;
	/* A section of 16 MiB stands there sixteen times. */
	for (uint64_t i = 0; i < 16; i++)
		set_entry(guest, entry_of(guest, at + (i << 20), 0),
			  0x34000000 | 0xa << 20 | 0x5 << 5 | 1 << 18 | 2);
	expect_frame(guest, at, super >> 12);
	expect_frame(guest, at + 0xffffff, (super + 0xffffff) >> 12);
	expect_frame(guest, at + 0x765432, (super + 0x765432) >> 12);
	/* And a page of 64 KiB, too. */
	for (uint64_t i = 0; i < 16; i++)
		set_entry(guest, entry_of(guest, 0x12340000 + (i << 12), 1),
			  0x67890000 | 1);
	for (uint64_t i = 0; i < 16; i++)
		expect_frame(guest, 0x12340000 + (i << 12) + 0x123, 0x67890 + i);
	/* A section that the kernel may not execute. */
	set_entry(guest, entry_of(guest, 0x80000000, 0), 0xabc00000 | 3);
	expect_frame(guest, 0x800fffff, 0xabcff);
	expect_none(guest, 0x57000000, NOT_PRESENT);
	free(guest);
}

static void addresses_outside_the_tables_are_not_translated(void **state)
{
	static const struct {
		const char *name;
		uint64_t address;
		enum translation why;
	} none[] = {
		{"4K, 39 bits", 1ull << 39, NOT_CANONICAL},
		{"4K, 39 bits", 1ull << 54, NOT_CANONICAL},
		{"4K, 39 bits", 0xff7fffffffffffff, NOT_CANONICAL},
		{"4K, 39 bits", 0x0100000000000000, NOT_CANONICAL},
		{"4K, 39 bits", 0xfeffffffffffffff, NOT_CANONICAL},
		{"4K, 48 bits", 1ull << 48, NOT_CANONICAL},
		{"4K, upper 48 bits", 0xfffeffffffffffff, NOT_CANONICAL},
		{"4K, 52 bits", 1ull << 52, NOT_CANONICAL},
		{"4K, upper 52 bits", 0xffefffffffffffff, NOT_CANONICAL},
		{"16K, 47 bits", 1ull << 47, NOT_CANONICAL},
		{"64K, 52 bits", 1ull << 52, NOT_CANONICAL},
		{"32 bits under AArch64", 1ull << 32, NOT_CANONICAL},
		{"LPAE", 1ull << 32, NOT_CANONICAL},
		{"LPAE, upper 2 GiB of two", 0x40000000, NOT_PRESENT},
		{"short", 1ull << 32, NOT_CANONICAL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(none); i++) {
		struct guest *guest = new_guest(mode_named(none[i].name));

		expect_none(guest, none[i].address, none[i].why);
		assert_int_equal(guest->calls, 0);
		free(guest);
	}
}

static void address_tags_are_ignored_if_they_are_enabled(void **state)
{
	struct guest *guest = new_guest(mode_named("4K, 48 bits"));
	struct guest *upper = new_guest(mode_named("4K, upper 48 bits"));

	(void)state;
	map(guest, 0x123456789000, 0x7000, 12);
	map(upper, 0xffff123456789000, 0x7000, 12);
	expect_none(guest, 0xab00123456789000, NOT_CANONICAL);
	guest->cpu.tcr |= TCR_TBI1;
	upper->cpu.tcr |= TCR_TBI0;
	expect_none(guest, 0xab00123456789000, NOT_CANONICAL);
	expect_none(upper, 0xabff123456789000, NOT_CANONICAL);
	guest->cpu.tcr |= TCR_TBI0;
	upper->cpu.tcr |= TCR_TBI1;
	expect_frame(guest, 0xab00123456789000, 7);
	expect_frame(guest, 0x123456789000, 7);
	expect_frame(upper, 0xabff123456789000, 7);
	/* Bit 55 selects the half, and bits 54 to 48 are not part of the tag. */
	expect_none(upper, 0xabfe123456789000, NOT_CANONICAL);
	free(guest);
	free(upper);
}

static void the_first_table_can_be_anywhere_in_its_page(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		const struct mode *mode = &modes[i];
		unsigned int entry = mode->descriptors == SHORT ? 4 : 8;
		uint64_t size = (uint64_t)entry << mode->bits[0];
		struct guest *guest = new_guest(mode);
		uint64_t *ttbr = mode->upper ? &guest->cpu.ttbr1 : &guest->cpu.ttbr0;

		/* With 52 bits, bits 5 to 2 are the upper end of the address. */
		if (mode->tcr & TCR_52_BIT && size < 64)
			size = 64;
		if (size < GUEST_PAGE_SIZE) {
			guest->root += GUEST_PAGE_SIZE - size;
			*ttbr = guest->root;
		}
		map(guest, mode->base, 5ull << granule_of(mode), granule_of(mode));
		/* Address space id and common-not-private are not part of the address. */
		*ttbr |= 1;
		if (mode->descriptors != SHORT)
			*ttbr |= 0xabcdull << 48;
		expect_frame(guest, mode->base, (5ull << granule_of(mode)) >> 12);
		guest->missing[entry_of(guest, mode->base, 0) >> 12] = true;
		expect_none(guest, mode->base, NO_PAGE);
		free(guest);
	}
}

/* The memory of the tests has no such tables; only the look-up is checked. */
static void tables_can_be_above_48_bits(void **state)
{
	static const char *const names[] = {"64K, 52 bits", "4K, 52 bits",
					    "16K, 52 bits"};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct guest *guest = new_guest(mode_named(names[i]));

		map(guest, 0, 1ull << 16, granule_of(guest->mode));
		guest->cpu.ttbr0 |= 4; /* bit 48 */
		expect_none(guest, 0, NO_PAGE);
		assert_int_equal(guest->calls, 1);
		/* Not if physical addresses have fewer bits. */
		guest->cpu.tcr &= ~TCR_52_BIT;
		expect_frame(guest, 0, 16);
		guest->cpu.ttbr0 &= ~4ull;
		set_entry(guest, entry_of(guest, 0, 0),
			  get_entry(guest, entry_of(guest, 0, 0)) |
				  pack_address(guest->mode, 1ull << 51));
		expect_none(guest, 0, NO_PAGE);
		assert_int_equal(guest->calls, 2);
		free(guest);
	}
}

static void disabled_table_walks_translate_nothing(void **state)
{
	static const struct {
		const char *name;
		uint64_t bit;
	} off[] = {
		{"4K, 39 bits", 1 << 7},
		{"4K, upper 48 bits", 1 << 23},
		{"LPAE", 1 << 7},
		{"LPAE, upper 1 GiB", 1 << 23},
		{"short, lower 512 MiB", 1 << 4},
		{"short, above the lower 2 GiB", 1 << 5},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(off); i++) {
		struct guest *guest = new_guest(mode_named(off[i].name));

		map_new(guest, guest->mode->base);
		guest->cpu.tcr |= off[i].bit;
		expect_none(guest, guest->mode->base, NOT_PRESENT);
		assert_int_equal(guest->calls, 0);
		free(guest);
	}
}

static void addresses_are_physical_with_the_mmu_off(void **state)
{
	struct guest *guest = new_guest(NULL);

	(void)state;
	guest->cpu.tcr = TCR_4K | TCR_SIZES(39, 39);
	expect_frame(guest, 0, 0);
	expect_frame(guest, 0x123456789abc, 0x123456789);
	expect_frame(guest, 0xfffffffffffff, 0xffffffffff);
	expect_none(guest, 0x10000000000000, NOT_CANONICAL);
	guest->cpu.cpsr = CPSR_SVC;
	expect_frame(guest, 0, 0);
	expect_frame(guest, 0xffffffff, 0xfffff);
	expect_none(guest, 0x100000000, NOT_CANONICAL);
	guest->cpu.cpsr = CPSR_USR;
	guest->cpu.sp_el1 = 8;
	expect_frame(guest, 0xffffffff, 0xfffff);
	expect_none(guest, 0x100000000, NOT_CANONICAL);
	assert_int_equal(guest->calls, 0);
	free(guest);
}

static void walks_of_a_table_that_points_to_itself_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		const struct mode *mode = &modes[i];
		struct guest *guest = new_guest(mode);
		uint64_t at = entry_of(guest, mode->base, 0);

		/* Its granule's first table, as far as it goes. */
		set_entry(guest, at,
			  (guest->root & ~((1ull << granule_of(mode)) - 1)) |
				  (mode->descriptors == SHORT ? 1 : 3));
		guest->calls = 0;
		arm_translate(&guest->cpu, &guest->memory, mode->base, &at);
		assert_true(guest->calls <= mode->levels);
		free(guest);
	}
}

static void an_unreadable_table_at_any_level_is_reported(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++)
		for (unsigned int level = 0; level < modes[i].levels; level++) {
			struct guest *guest = new_guest(&modes[i]);

			map_new(guest, modes[i].base);
			guest->missing[entry_of(guest, modes[i].base, level) >> 12] =
				true;
			expect_none(guest, modes[i].base, NO_PAGE);
			assert_int_equal(guest->calls, level + 1);
			free(guest);
		}
}

static void the_cpu_kind_is_that_of_the_kernel(void **state)
{
	struct arm_cpu cpu = {.cpsr = CPSR_EL1};

	(void)state;
	assert_int_equal(arm_kind(&cpu), CPU_ARM64);
	cpu.cpsr = 0; /* EL0 */
	assert_int_equal(arm_kind(&cpu), CPU_ARM64);
	cpu.cpsr = CPSR_SVC;
	assert_int_equal(arm_kind(&cpu), CPU_ARM32);
	cpu.cpsr = CPSR_USR;
	assert_int_equal(arm_kind(&cpu), CPU_ARM32);
	cpu.sp_el1 = 0xffff000012340000;
	assert_int_equal(arm_kind(&cpu), CPU_ARM64);
}

static void random_registers_are_safe(void **state)
{
	unsigned int found[NO_PAGE + 1] = {0};
	uint64_t seed = 7;

	(void)state;
	for (unsigned int i = 0; i < 200; i++) {
		struct guest *guest = new_guest(NULL);
		uint64_t *words = (uint64_t *)guest->page;

		for (size_t j = 0; j < sizeof(guest->page) / 8; j++)
			words[j] = random_next(&seed) & 0xff000000003fffff;
		for (unsigned int j = 0; j < 200; j++) {
			uint64_t frame = 0;
			enum translation how;

			guest->cpu.cpsr = random_next(&seed) & 0x1f;
			guest->cpu.sctlr = random_next(&seed) % 8 ? ARM_SCTLR_M : 0;
			guest->cpu.tcr = random_next(&seed);
			guest->cpu.ttbr0 = random_next(&seed) & 0xffff0000003fffff;
			guest->cpu.ttbr1 = random_next(&seed) & 0xffff0000003fffff;
			guest->cpu.sp_el1 = random_next(&seed) & 1;
			guest->calls = 0;
			how = arm_translate(&guest->cpu, &guest->memory,
					    (uint64_t)((int64_t)random_next(&seed) >>
						       random_next(&seed) % 64),
					    &frame);
			assert_true(how <= NO_PAGE);
			assert_true(guest->calls <= READ_PAGES_MAX - 1);
			assert_true(frame >> 40 == 0);
			found[how]++;
		}
		free(guest);
	}
	for (unsigned int how = 0; how <= NO_PAGE; how++)
		assert_true(found[how] > 100);
}

static void the_address_space_is_the_lower_table(void **state)
{
	/* An ASID, CnP, and of the short format the table's attributes. */
	struct arm_cpu cpu = {.ttbr0 = 0x0123000040005001, .ttbr1 = 0x6000};

	(void)state;
	assert_int_equal(arm_space(&cpu), 0);
	cpu.sctlr = ARM_SCTLR_M;
	assert_int_equal(arm_space(&cpu), 0x40005000);
	cpu.sp_el1 = 0;
	cpu.cpsr = ARM_CPSR_AARCH32 | 0x13;
	cpu.ttbr0 = 0x4000406a;
	assert_int_equal(arm_space(&cpu), 0x40004000);
	cpu.tcr = 1u << 31; /* the long format */
	cpu.ttbr0 = 0x0034000040004060;
	assert_int_equal(arm_space(&cpu), 0x40004060);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			pages_and_blocks_of_every_size_are_translated_in_every_mode),
		cmocka_unit_test(invalid_block_and_page_descriptors_are_not_present),
		cmocka_unit_test(several_pages_are_translated_independently),
		cmocka_unit_test(attributes_and_protections_are_ignored),
		cmocka_unit_test(sections_and_large_pages_are_translated),
		cmocka_unit_test(addresses_outside_the_tables_are_not_translated),
		cmocka_unit_test(address_tags_are_ignored_if_they_are_enabled),
		cmocka_unit_test(the_first_table_can_be_anywhere_in_its_page),
		cmocka_unit_test(tables_can_be_above_48_bits),
		cmocka_unit_test(disabled_table_walks_translate_nothing),
		cmocka_unit_test(addresses_are_physical_with_the_mmu_off),
		cmocka_unit_test(walks_of_a_table_that_points_to_itself_end),
		cmocka_unit_test(an_unreadable_table_at_any_level_is_reported),
		cmocka_unit_test(the_cpu_kind_is_that_of_the_kernel),
		cmocka_unit_test(the_address_space_is_the_lower_table),
		cmocka_unit_test(random_registers_are_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

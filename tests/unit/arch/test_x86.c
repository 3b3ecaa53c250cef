/* SPDX-License-Identifier: BSD-3-Clause */

/* x86 page tables: every mode and page size, and hostile tables. */

#include <stdbool.h>

#include "tests/unit/arch/test_x86.h"

static const struct mode *const modes[] = {&mode_32, &mode_32_pse, &mode_pae,
					   &mode_4_level, &mode_5_level};

static void expect_frame(struct guest *guest, uint64_t address, uint64_t wanted)
{
	uint64_t frame = ~wanted;

	guest->calls = 0;
	assert_int_equal(x86_translate(&guest->cpu, &guest->memory, address, &frame),
			 TRANSLATED);
	assert_int_equal(frame, wanted);
	assert_true(guest->calls <= 5);
}

static void expect_none(struct guest *guest, uint64_t address, enum translation why,
			unsigned int calls)
{
	uint64_t frame = 0;

	guest->calls = 0;
	assert_int_equal(x86_translate(&guest->cpu, &guest->memory, address, &frame),
			 why);
	assert_int_equal(guest->calls, calls);
}

static void addresses_are_physical_without_paging(void **state)
{
	struct guest *guest = guest_new(NULL);

	(void)state;
	/* Paging is off, whatever the other registers contain. */
	guest->cpu.cr4 = X86_CR4_PAE | X86_CR4_PSE;
	guest->cpu.cr3 = 0x5000;
	expect_frame(guest, 0, 0);
	expect_frame(guest, 0x12345678, 0x12345);
	expect_frame(guest, 0xffffffff, 0xfffff);
	assert_int_equal(guest->calls, 0);
	free(guest);
}

/* Maps a page, and looks up its first, last and some other addresses. */
static void expect_page(const struct mode *mode, uint64_t address, uint64_t frame,
			unsigned int shift)
{
	struct guest *guest = guest_new(mode);
	uint64_t size = (uint64_t)1 << shift;

	map(guest, address, frame, shift);
	expect_frame(guest, address, frame);
	expect_frame(guest, address + size - 1, frame + (size - 1) / GUEST_PAGE_SIZE);
	for (uint64_t offset = 0; offset < size; offset += size / 16 + 8)
		expect_frame(guest, address + offset, frame + offset / GUEST_PAGE_SIZE);
	/* Its neighbour is not mapped. */
	expect_none(guest, address ^ size, NOT_PRESENT,
		    mode->levels - (shift == 12	  ? 0
				    : shift == 30 ? 2
						  : 1));
	free(guest);
}

static void pages_of_every_size_are_translated_in_every_mode(void **state)
{
	(void)state;
	expect_page(&mode_32, 0x00400000, 0x2, 12);
	expect_page(&mode_32, 0xfffff000, 0xfffff, 12);
	expect_page(&mode_32_pse, 0x08048000, 0x2, 12);
	expect_page(&mode_32_pse, 0xc0400000, 0x400, 22);
	expect_page(&mode_32_pse, 0xffc00000, 0xffc00, 22);
	expect_page(&mode_pae, 0x08048000, 0x123456789, 12);
	expect_page(&mode_pae, 0xfffff000, 0xffffffffff, 12);
	expect_page(&mode_pae, 0xc0200000, 0x200, 21);
	expect_page(&mode_pae, 0xffe00000, 0xfffffffe00, 21);
	for (size_t i = 3; i < COUNT_OF(modes); i++) {
		expect_page(modes[i], 0x401000, 0x2, 12);
		expect_page(modes[i], 0x7ffffffff000, 0xffffffffff, 12);
		expect_page(modes[i], 0xffff800000000000, 0x8000000000, 12);
		expect_page(modes[i], 0xfffffffffffff000, 0x123, 12);
		expect_page(modes[i], 0xffffffff81000000, 0x1000, 21);
		expect_page(modes[i], 0x600000, 0xfffffffe00, 21);
		expect_page(modes[i], 0xffff888040000000, 0x40000, 30);
		expect_page(modes[i], 0xffffffffc0000000, 0xffffc0000, 30);
	}
	expect_page(&mode_5_level, 0x00ffffffffe00000, 0x200, 21);
	expect_page(&mode_5_level, 0xff00000000000000, 0x40000, 30);
	expect_page(&mode_5_level, 0xff11000000001000, 0x3, 12);
}

static void pages_of_4_mib_can_be_above_4_gib(void **state)
{
	(void)state;
	expect_page(&mode_32_pse, 0x40000000, 0x100000, 22);  /* 4 GiB */
	expect_page(&mode_32_pse, 0x40000000, 0xffffc00, 22); /* 1 TiB - 4 MiB */
	expect_page(&mode_32_pse, 0x40000000, 0x5a5a400, 22);
}

static void several_pages_are_translated_independently(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct guest *guest = guest_new(modes[i]);
		uint64_t seed = i;

		for (uint64_t j = 0; j < 100; j++)
			map(guest, j * 0x1237000, j + 5, 12);
		for (uint64_t j = 0; j < 100; j++)
			expect_frame(guest, j * 0x1237000 + random_next(&seed) % 4096,
				     j + 5);
		free(guest);
	}
}

static void protection_and_unused_bits_are_ignored(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		const struct mode *mode = modes[i];
		struct guest *guest = guest_new(mode);

		map(guest, 0x345000, 0x77, 12);
		for (unsigned int level = mode->levels; level-- > 0;) {
			uint8_t *at = entry_of(guest, 0x345000, level);
			bool may_be_large = mode->shift[level] != 12;

			set_entry(guest, at,
				  get_entry(guest, at) |
					  (ALL_FLAGS & ~(may_be_large ? LARGE : 0)) |
					  (mode->entry_size == 8 ? 0xfffull << 52 : 0));
		}
		expect_frame(guest, 0x345000, 0x77);
		free(guest);
	}
}

/* Bit 12 of a large page's entry is its PAT bit, not part of the address. */
static void the_attribute_bit_of_large_pages_is_not_part_of_the_address(void **state)
{
	static const struct {
		const struct mode *mode;
		unsigned int shift, level;
	} pages[] = {
		{&mode_32_pse, 22, 0},	{&mode_pae, 21, 1},	{&mode_4_level, 21, 2},
		{&mode_4_level, 30, 1}, {&mode_5_level, 21, 3}, {&mode_5_level, 30, 2},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(pages); i++) {
		struct guest *guest = guest_new(pages[i].mode);
		uint8_t *at;

		map(guest, 0x40000000, 0x40000, pages[i].shift);
		at = entry_of(guest, 0x40000000, pages[i].level);
		set_entry(guest, at, get_entry(guest, at) | 0x1000);
		expect_frame(guest, 0x40000000, 0x40000);
		expect_frame(guest, 0x40003000, 0x40003);
		free(guest);
	}
}

static void the_large_page_bit_is_ignored_in_modes_without_large_pages(void **state)
{
	static const struct {
		const struct mode *mode;
		unsigned int level;
	} places[] = {
		{&mode_32, 0},	    {&mode_32, 1},	{&mode_32_pse, 1},
		{&mode_pae, 0},	    {&mode_pae, 2},	{&mode_4_level, 0},
		{&mode_4_level, 3}, {&mode_5_level, 0}, {&mode_5_level, 1},
		{&mode_5_level, 4},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(places); i++) {
		struct guest *guest = guest_new(places[i].mode);
		uint8_t *at;

		map(guest, 0x345000, 0x77, 12);
		at = entry_of(guest, 0x345000, places[i].level);
		set_entry(guest, at, get_entry(guest, at) | LARGE);
		expect_frame(guest, 0x345000, 0x77);
		free(guest);
	}
}

static void the_first_pae_table_can_be_anywhere_in_its_page(void **state)
{
	(void)state;
	for (uint64_t offset = 0; offset < GUEST_PAGE_SIZE; offset += 32) {
		struct guest *guest = guest_new(&mode_pae);

		guest->cpu.cr3 = GUEST_PAGE_SIZE | offset;
		map(guest, 0xc0123000, 0x77, 12);
		expect_frame(guest, 0xc0123000, 0x77);
		guest->cpu.cr3 |= 0x1f; /* ignored, or not part of the address */
		expect_frame(guest, 0xc0123000, 0x77);
		free(guest);
	}
}

static void the_first_pae_table_is_below_4_gib_unless_it_is_xens(void **state)
{
	struct guest *guest = guest_new(&mode_pae);

	(void)state;
	map(guest, 0xc0123000, 0x77, 12);
	guest->cpu.cr3 |= 1ull << 32;
	expect_frame(guest, 0xc0123000, 0x77);
	/* A PV guest's is where Xen has it: at a page that this one has not. */
	guest->cpu.kernel_cr3 = guest->cpu.cr3;
	expect_none(guest, 0xc0123000, NO_PAGE, 1);
	guest->cpu.cr3 &= UINT32_MAX;
	guest->cpu.kernel_cr3 = guest->cpu.cr3;
	expect_frame(guest, 0xc0123000, 0x77);
	free(guest);
}

static void the_flags_in_cr3_are_not_part_of_the_address(void **state)
{
	struct guest *guest = guest_new(&mode_4_level);

	(void)state;
	map(guest, 0x345000, 0x77, 12);
	guest->cpu.cr3 |= 0xfff | 1ull << 63; /* PCID, and "do not flush" */
	expect_frame(guest, 0x345000, 0x77);
	free(guest);
}

static void entries_that_are_not_present_end_the_walk(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		for (unsigned int level = 0; level < modes[i]->levels; level++) {
			struct guest *guest = guest_new(modes[i]);
			uint8_t *at;

			map(guest, 0x345000, 0x77, 12);
			at = entry_of(guest, 0x345000, level);
			/* Swapped out: all bits are set except "present". */
			set_entry(guest, at, get_entry(guest, at) & ~PRESENT);
			expect_none(guest, 0x345000, NOT_PRESENT, level + 1);
			set_entry(guest, at, ~PRESENT);
			expect_none(guest, 0x345000, NOT_PRESENT, level + 1);
			set_entry(guest, at, 0);
			expect_none(guest, 0x345000, NOT_PRESENT, level + 1);
			free(guest);
		}
	}
}

static void an_unreadable_table_at_any_level_is_reported(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		for (unsigned int level = 0; level < modes[i]->levels; level++) {
			struct guest *guest = guest_new(modes[i]);

			map(guest, 0x345000, 0x77, 12);
			guest->missing[level + 1] = true; /* tables are in order */
			expect_none(guest, 0x345000, NO_PAGE, level + 1);
			free(guest);
		}
	}
}

static void addresses_that_are_not_canonical_are_not_translated(void **state)
{
	static const uint64_t beyond_48[] = {0x0000800000000000, 0x0001000000000000,
					     0x7fffffffffffffff, 0x8000000000000000,
					     0xfffeffffffffffff, 0xffff7fffffffffff};
	static const uint64_t within_48[] = {0, 0x00007fffffffffff, 0xffff800000000000,
					     UINT64_MAX};
	static const uint64_t beyond_57[] = {0x0100000000000000, 0x7fffffffffffffff,
					     0x8000000000000000, 0xfeffffffffffffff};
	static const uint64_t within_57[] = {0, 0x00ffffffffffffff, 0x0000800000000000,
					     0xff00000000000000, UINT64_MAX};
	static const uint64_t beyond_32[] = {0x100000000, 0xffffffff00000000, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct guest *guest = guest_new(modes[i]);

		for (size_t j = 0; j < COUNT_OF(beyond_48) && modes[i]->levels == 4; j++)
			expect_none(guest, beyond_48[j], NOT_CANONICAL, 0);
		for (size_t j = 0; j < COUNT_OF(within_48) && modes[i]->levels == 4; j++)
			expect_none(guest, within_48[j], NOT_PRESENT, 1);
		for (size_t j = 0; j < COUNT_OF(beyond_57) && modes[i]->levels == 5; j++)
			expect_none(guest, beyond_57[j], NOT_CANONICAL, 0);
		for (size_t j = 0; j < COUNT_OF(within_57) && modes[i]->levels == 5; j++)
			expect_none(guest, within_57[j], NOT_PRESENT, 1);
		for (size_t j = 0; j < COUNT_OF(beyond_32) && modes[i]->levels < 4; j++)
			expect_none(guest, beyond_32[j], NOT_CANONICAL, 0);
		free(guest);
	}
}

static void walks_of_tables_that_point_to_themselves_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct guest *guest = guest_new(modes[i]);
		uint64_t seed = i;

		for (size_t at = 0; at < GUEST_PAGE_SIZE; at += modes[i]->entry_size)
			set_entry(guest, guest->page[1] + at,
				  1 << GUEST_PAGE_SHIFT | PRESENT);
		for (unsigned int round = 0; round < 100; round++) {
			uint64_t address = random_next(&seed);

			if (modes[i]->levels < 4)
				address &= 0xffffffff;
			else
				address >>= 17;
			expect_frame(guest, address, 1);
			assert_int_equal(guest->calls, modes[i]->levels);
		}
		free(guest);
	}
}

/* Small frame numbers, so that most of them exist. */
static void fill_tables(struct guest *guest, uint64_t *seed)
{
	for (size_t i = 0; i < 4; i++)
		for (size_t at = 0; at < GUEST_PAGE_SIZE; at += 8) {
			uint64_t bits = random_next(seed) & 0x80000000000037ff;

			memcpy(guest->page[i] + at, &bits, 8);
		}
	guest->cpu.cr3 = random_next(seed) & 0x3fff;
}

static void walks_of_random_tables_end(void **state)
{
	unsigned int translated = 0;
	uint64_t seed = 15;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		struct guest *guest = guest_new(modes[round % COUNT_OF(modes)]);

		fill_tables(guest, &seed);
		for (unsigned int i = 0; i < 20; i++) {
			uint64_t frame, address = random_next(&seed);

			address >>= random_next(&seed) % 64;
			guest->calls = 0;
			if (x86_translate(&guest->cpu, &guest->memory, address, &frame) ==
			    TRANSLATED)
				translated++;
			assert_true(guest->calls <= guest->mode->levels);
		}
		free(guest);
	}
	assert_true(translated > 1000);
}

static void neighbours_are_translated_by_one_table(void **state)
{
	struct guest *guest = guest_new(&mode_4_level);
	struct last_table last = {0};
	uint64_t frame = 0;

	(void)state;
	map(guest, 0x401000, 5, GUEST_PAGE_SHIFT);
	map(guest, 0x402000, 9, GUEST_PAGE_SHIFT);
	for (unsigned int i = 0; i < 2; i++) {
		guest->calls = 0;
		assert_int_equal(x86_translate_near(&guest->cpu, &guest->memory, &last,
						    0x401000 + i * 0x1000ull, &frame),
				 TRANSLATED);
		assert_int_equal(frame, i ? 9 : 5);
		assert_int_equal(guest->calls, i ? 1 : 4);
	}
	free(guest);
}

static void translations_that_begin_at_the_last_table_are_the_same(void **state)
{
	unsigned int translated = 0, calls = 0, near_calls = 0;
	uint64_t seed = 16;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		struct guest *guest = guest_new(modes[round % COUNT_OF(modes)]);
		uint64_t address = random_next(&seed) >> random_next(&seed) % 64;
		struct last_table last = {0};

		fill_tables(guest, &seed);
		for (unsigned int i = 0; i < 20; i++) {
			uint64_t frame = 0, again = 0;
			enum translation status;

			guest->calls = 0;
			status = x86_translate(&guest->cpu, &guest->memory, address,
					       &frame);
			calls += guest->calls;
			guest->calls = 0;
			assert_int_equal(x86_translate_near(&guest->cpu, &guest->memory,
							    &last, address, &again),
					 status);
			near_calls += guest->calls;
			assert_int_equal(frame, again);
			translated += status == TRANSLATED;
			/* Every other step is of two pages at most, in one lowest
			 * table. */
			address += random_next(&seed) % (i % 2 ? 1 << 13 : 1 << 26);
		}
		free(guest);
	}
	assert_true(translated > 1000);
	assert_true(near_calls < calls);
}

/* Linux sets the bit in the top table's entries for programs, in the tables that it uses
 * itself. */
static void pages_are_executable_unless_an_entry_below_the_top_forbids_it(void **state)
{
	const uint64_t no_execute = 1ull << 63, address = 0x401000;
	struct guest *guest = guest_new(&mode_4_level);

	(void)state;
	guest->cpu.efer |= X86_EFER_NXE;
	map(guest, address, 5, GUEST_PAGE_SHIFT);
	assert_true(x86_is_executable(&guest->cpu, &guest->memory, address));
	for (unsigned int level = 0; level < 4; level++) {
		uint8_t *entry = entry_of(guest, address, level);
		uint64_t before = get_entry(guest, entry);

		set_entry(guest, entry, before | no_execute);
		assert_int_equal(x86_is_executable(&guest->cpu, &guest->memory, address),
				 level == 0);
		set_entry(guest, entry, before);
	}
	assert_false(x86_is_executable(&guest->cpu, &guest->memory, address + 0x100000));
	free(guest);
}

static void long_mode_makes_a_64_bit_cpu(void **state)
{
	struct x86_cpu cpu = {0};

	(void)state;
	assert_int_equal(x86_kind(&cpu), CPU_X86_32);
	cpu.cr0 = X86_CR0_PG;
	cpu.cr4 = X86_CR4_PAE | X86_CR4_PSE;
	assert_int_equal(x86_kind(&cpu), CPU_X86_32);
	cpu.efer = X86_EFER_LMA;
	assert_int_equal(x86_kind(&cpu), CPU_X86_64);
}

static void a_cpu_at_its_first_instruction_was_not_started(void **state)
{
	struct x86_cpu cpu = {.cr0 = 0x60000010, .cs = 0xf000, .rip = 0xfff0};

	(void)state;
	assert_true(x86_is_reset(&cpu));
	cpu.rip = 0xe05b; /* where the BIOS jumps to */
	assert_false(x86_is_reset(&cpu));
	cpu.rip = 0xfff0;
	cpu.cs = 0x9a00; /* where a vCPU is started in real mode */
	assert_false(x86_is_reset(&cpu));
	cpu.cs = 0xf000;
	cpu.cr0 |= X86_CR0_PE;
	assert_false(x86_is_reset(&cpu));
}

static void firmware_is_32_bit_code_below_1_mib(void **state)
{
	/* Where SeaBIOS 1.16 left vCPU 1 of QEMU's q35 */
	struct x86_cpu cpu = {.cr0 = 0x11, .cs = 0x8, .rip = 0xfd09a};

	(void)state;
	assert_true(x86_is_in_firmware(&cpu));
	cpu.rip = 0x100000;
	assert_false(x86_is_in_firmware(&cpu));
	cpu.rip = 0xfd09a;
	cpu.cr0 |= X86_CR0_PG;
	assert_false(x86_is_in_firmware(&cpu));
	cpu.cr0 = 0x10; /* real mode */
	assert_false(x86_is_in_firmware(&cpu));
}

static void the_address_space_is_the_first_table(void **state)
{
	struct x86_cpu cpu = {.cr3 = 0x0012345600003aa8};

	(void)state;
	assert_int_equal(x86_space(&cpu), 0);
	cpu.cr0 = X86_CR0_PG;
	assert_int_equal(x86_space(&cpu), 0x3000);
	cpu.cr4 = X86_CR4_PAE;
	assert_int_equal(x86_space(&cpu), 0x3aa0);
	cpu.efer = X86_EFER_LMA;
	assert_int_equal(x86_space(&cpu), 0x0002345600003000);
	/* Bit 63: the TLB is not flushed. */
	cpu.cr3 |= 1ull << 63;
	assert_int_equal(x86_space(&cpu), 0x0002345600003000);
	cpu.cr4 |= X86_CR4_LA57;
	assert_int_equal(x86_space(&cpu), 0x0002345600003000);
}

static void both_tables_of_a_process_are_one_address_space(void **state)
{
	struct x86_cpu cpu = {
		.cr0 = X86_CR0_PG, .cr4 = X86_CR4_PAE, .efer = X86_EFER_LMA};

	(void)state;
	/* A table of user mode has bit 11 in its PCID; others can have an odd page. */
	cpu.cr4 |= X86_CR4_PCIDE;
	cpu.cr3 = 0x5803;
	assert_int_equal(x86_space(&cpu), 0x4000);
	cpu.cr3 = 0x4003;
	assert_int_equal(x86_space(&cpu), 0x4000);
	cpu.cr3 = 0x5003;
	assert_int_equal(x86_space(&cpu), 0x5000);
	/* Without PCIDs, the low bits have no meaning. */
	cpu.cr4 &= ~X86_CR4_PCIDE;
	cpu.cr3 = 0x5803;
	assert_int_equal(x86_space(&cpu), 0x5000);
	/* A PV guest's are anywhere. */
	cpu.kernel_cr3 = 0x9000;
	assert_int_equal(x86_space(&cpu), 0x9000);
}

static void every_register_has_its_name_and_value(void **state)
{
	static const char *const names[] = {
		"rax", "rcx",	 "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
		"r8",  "r9",	 "r10", "r11", "r12", "r13", "r14", "r15",
		"rip", "rflags", "cs",	"ss",  "cr0", "cr3", "cr4", "efer",
	};
	struct register_value values[REGISTERS_MAX];
	struct x86_cpu cpu = {.rip = 16,
			      .rflags = 17,
			      .cs = 18,
			      .ss = 19,
			      .cr0 = 20,
			      .cr3 = 21,
			      .cr4 = 22,
			      .efer = 23};

	(void)state;
	for (size_t i = 0; i < X86_REGISTERS; i++)
		cpu.reg[i] = i;
	assert_int_equal(x86_registers(&cpu, values), COUNT_OF(names));
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		assert_string_equal(values[i].name, names[i]);
		assert_int_equal(values[i].value, i);
	}
	assert_string_equal(names[X86_RSP], "rsp");
	assert_string_equal(names[X86_RBP], "rbp");
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_physical_without_paging),
		cmocka_unit_test(pages_of_every_size_are_translated_in_every_mode),
		cmocka_unit_test(pages_of_4_mib_can_be_above_4_gib),
		cmocka_unit_test(several_pages_are_translated_independently),
		cmocka_unit_test(protection_and_unused_bits_are_ignored),
		cmocka_unit_test(
			the_attribute_bit_of_large_pages_is_not_part_of_the_address),
		cmocka_unit_test(
			the_large_page_bit_is_ignored_in_modes_without_large_pages),
		cmocka_unit_test(the_first_pae_table_can_be_anywhere_in_its_page),
		cmocka_unit_test(the_first_pae_table_is_below_4_gib_unless_it_is_xens),
		cmocka_unit_test(the_flags_in_cr3_are_not_part_of_the_address),
		cmocka_unit_test(entries_that_are_not_present_end_the_walk),
		cmocka_unit_test(an_unreadable_table_at_any_level_is_reported),
		cmocka_unit_test(addresses_that_are_not_canonical_are_not_translated),
		cmocka_unit_test(walks_of_tables_that_point_to_themselves_end),
		cmocka_unit_test(walks_of_random_tables_end),
		cmocka_unit_test(neighbours_are_translated_by_one_table),
		cmocka_unit_test(translations_that_begin_at_the_last_table_are_the_same),
		cmocka_unit_test(
			pages_are_executable_unless_an_entry_below_the_top_forbids_it),
		cmocka_unit_test(long_mode_makes_a_64_bit_cpu),
		cmocka_unit_test(a_cpu_at_its_first_instruction_was_not_started),
		cmocka_unit_test(firmware_is_32_bit_code_below_1_mib),
		cmocka_unit_test(the_address_space_is_the_first_table),
		cmocka_unit_test(both_tables_of_a_process_are_one_address_space),
		cmocka_unit_test(every_register_has_its_name_and_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

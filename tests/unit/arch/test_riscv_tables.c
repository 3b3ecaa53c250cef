/* SPDX-License-Identifier: BSD-3-Clause */

/* RISC-V page tables: every mode and size, and hostile tables. */

#include "tests/unit/arch/test_riscv.h"

static const struct mode *const modes[] = {&sv39, &sv48, &sv57};

static void expect_frame(struct guest *guest, uint64_t address, uint64_t wanted)
{
	uint64_t frame = ~wanted;

	guest->calls = 0;
	assert_int_equal(riscv_translate(&guest->cpu, &guest->memory, address, &frame),
			 TRANSLATED);
	assert_int_equal(frame, wanted);
	assert_true(guest->calls <= READ_PAGES_MAX - 1);
}

static void expect_none(struct guest *guest, uint64_t address, enum translation why)
{
	uint64_t frame;

	guest->calls = 0;
	assert_int_equal(riscv_translate(&guest->cpu, &guest->memory, address, &frame),
			 why);
	assert_true(guest->calls <= READ_PAGES_MAX - 1);
}

static void expect_page(const struct mode *mode, uint64_t address, uint64_t physical,
			unsigned int level)
{
	struct guest *guest = guest_new(mode);
	uint64_t size = 1ull << mode->shift[level];

	map(guest, address, physical, level);
	for (uint64_t offset = 0; offset < size; offset += size / 16 + 8)
		expect_frame(guest, address + offset, (physical + offset) >> 12);
	expect_frame(guest, address + size - 1, (physical + size - 1) >> 12);
	expect_none(guest, address ^ size, NOT_PRESENT);
	free(guest);
}

static void pages_of_every_size_are_translated_in_every_mode(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++)
		for (unsigned int level = 0; level < modes[i]->levels; level++) {
			uint64_t size = 1ull << modes[i]->shift[level];
			uint64_t half = 256ull << modes[i]->shift[0];

			expect_page(modes[i], 0, (1ull << 56) - size, level);
			expect_page(modes[i], half - size, size, level);
			expect_page(modes[i], -half, 2 * size, level);
			expect_page(modes[i], -size, 5 * size, level);
			expect_page(modes[i], half / 3 / size * size, 0, level);
		}
}

static void addresses_outside_the_mode_are_not_canonical(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct guest *guest = guest_new(modes[i]);
		uint64_t half = 256ull << modes[i]->shift[0];

		expect_none(guest, half, NOT_CANONICAL);
		expect_none(guest, -half - 1, NOT_CANONICAL);
		expect_none(guest, 1ull << 63, NOT_CANONICAL);
		expect_none(guest, half - 1, NOT_PRESENT);
		free(guest);
	}
}

static void addresses_are_physical_in_machine_mode_and_without_tables(void **state)
{
	struct guest *guest = guest_new(NULL);

	(void)state;
	expect_frame(guest, 0x80200123, 0x80200);
	expect_frame(guest, (1ull << 56) - 1, (1ull << 44) - 1);
	expect_none(guest, 1ull << 56, NOT_CANONICAL);
	assert_int_equal(riscv_space(&guest->cpu), 0);
	guest->cpu.satp = sv39.number << 60 | 5;
	expect_none(guest, 0x80200123, NOT_PRESENT);
	assert_int_equal(riscv_space(&guest->cpu), 0x5000);
	guest->cpu.satp |= 0xffffull << 44;
	assert_int_equal(riscv_space(&guest->cpu), 0x5000);
	guest->cpu.priv = RISCV_MACHINE_MODE;
	expect_frame(guest, 0x80200123, 0x80200);
	assert_int_equal(riscv_space(&guest->cpu), 0);
	guest->cpu.priv = 0;
	expect_none(guest, 0x80200123, NOT_PRESENT);
	for (uint64_t number = 1; number < 16; number++) {
		guest->cpu.satp = number << 60;
		if (number < 8 || number > 10)
			expect_none(guest, 0x80200123, NOT_PRESENT);
	}
	free(guest);
}

static void entries_that_the_cpu_refuses_map_nothing(void **state)
{
	struct guest *guest = guest_new(&sv48);
	uint64_t *entry;

	(void)state;
	map(guest, 0x1000, 0x5000, 3);
	entry = entry_of(guest, 0x1000, 3);
	*entry &= ~VALID;
	expect_none(guest, 0x1000, NOT_PRESENT);
	*entry = 5 << 10 | VALID | WRITE;
	expect_none(guest, 0x1000, NOT_PRESENT);
	*entry = 5 << 10 | VALID | WRITE | EXECUTE;
	expect_none(guest, 0x1000, NOT_PRESENT);
	*entry = 5 << 10 | VALID | EXECUTE;
	expect_frame(guest, 0x1000, 5);
	/* Attributes of pages (Svpbmt) are not part of the address. */
	*entry |= 3ull << 61;
	expect_frame(guest, 0x1000, 5);
	/* A table where only a page can be. */
	*entry = 5 << 10 | VALID;
	expect_none(guest, 0x1000, NOT_PRESENT);
	/* Large pages are at multiples of their size. */
	map(guest, 1ull << 30, 3ull << 30, 1);
	expect_frame(guest, (1ull << 30) + 0x1000, (3ull << 18) + 1);
	*entry_of(guest, 1ull << 30, 1) |= 1 << 10;
	expect_none(guest, (1ull << 30) + 0x1000, NOT_PRESENT);
	*entry_of(guest, 1ull << 39, 0) = 0xfffff << 10 | VALID;
	expect_none(guest, 1ull << 39, NO_PAGE);
	free(guest);
}

static void contiguous_pages_are_translated(void **state)
{
	const uint64_t napot = 1ull << 63;
	struct guest *guest = guest_new(&sv39);

	(void)state;
	for (uint64_t i = 0; i < 16; i++) {
		map(guest, 0x10000 + (i << 12), 0x70000, 2);
		*entry_of(guest, 0x10000 + (i << 12), 2) |= napot | 8 << 10;
		expect_frame(guest, 0x10000 + (i << 12), 0x70 + i);
	}
	*entry_of(guest, 0x10000, 2) ^= 1 << 10;
	expect_none(guest, 0x10000, NOT_PRESENT);
	map(guest, 1 << 21, 1 << 21, 1);
	*entry_of(guest, 1 << 21, 1) |= napot;
	expect_none(guest, 1 << 21, NOT_PRESENT);
	free(guest);
}

static void tables_that_refer_to_themselves_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct guest *guest = guest_new(modes[i]);

		*entry_of(guest, 0, 0) = (guest->cpu.satp & 0xfffff) << 10 | VALID;
		expect_none(guest, 0, NOT_PRESENT);
		free(guest);
	}
}

static void registers_have_names(void **state)
{
	struct register_value values[REGISTERS_MAX];
	struct cpu cpu = {.family = CPU_FAMILY_RISCV};

	(void)state;
	for (uint64_t i = 0; i < RISCV_REGISTERS; i++)
		cpu.riscv.x[i] = i;
	cpu.riscv.pc = 100;
	cpu.riscv.satp = 101;
	cpu.riscv.priv = 1;
	assert_int_equal(cpu_kind(&cpu), CPU_RISCV64);
	assert_int_equal(cpu_registers(&cpu, values), 35);
	assert_string_equal(values[8].name, "s0");
	assert_string_equal(values[31].name, "t6");
	assert_string_equal(values[32].name, "pc");
	assert_string_equal(values[34].name, "priv");
	for (uint64_t i = 0; i < 34; i++)
		assert_int_equal(values[i].value, i < 32 ? i : 100 + i - 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_of_every_size_are_translated_in_every_mode),
		cmocka_unit_test(addresses_outside_the_mode_are_not_canonical),
		cmocka_unit_test(
			addresses_are_physical_in_machine_mode_and_without_tables),
		cmocka_unit_test(entries_that_the_cpu_refuses_map_nothing),
		cmocka_unit_test(contiguous_pages_are_translated),
		cmocka_unit_test(tables_that_refer_to_themselves_end),
		cmocka_unit_test(registers_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */

/* The names of a Linux kernel in a made-up guest's memory; the lab has real ones. */

#include <stdio.h>

#include "base/clock.h"
#include "record/linux/kallsyms.h"
#include "tests/unit/arch/test_x86.h"

#define TEXT	   0xffffffff81000000u
#define RODATA	   0xffffffff81200000u
#define TABLES	   (RODATA + 0x3010)
#define SYMBOLS	   (40 * KALLSYMS_STEP + 10)
#define DISTANCE   64 /* from one function to the next */
#define BASE	   TEXT
#define LOOKS	   2000 /* more than any search takes */
#define STEP_BYTES 2000

static const struct mode *const mode = &mode_4_level;

/* The orders of the tables in releases of Linux. */
enum order {
	LINUX_4_20, /* offsets first */
	LINUX_6_2,  /* another table behind the markers */
	LINUX_6_4,  /* offsets last */
	ORDERS
};

/* The tables in the order in which they are built, each aligned to 8 bytes. */
struct builder {
	struct guest *guest;
	uint64_t at;	   /* address of the next byte */
	uint64_t names;	   /* address of the names */
	bool is_signed;	   /* offsets are relative to the base in the negative */
	bool has_long_one; /* one symbol has a length of two bytes */
};

static void put_aligned(struct builder *builder, const void *data, size_t size)
{
	put_bytes(builder->guest, builder->at, data, size);
	builder->at = (builder->at + size + 7) & ~7ull;
}

/* Returns the text of the symbol with this number; the first ones are data of each CPU.
 */
static const char *symbol_text(const struct builder *builder, uint32_t i)
{
	static char text[KALLSYMS_SYMBOL_MAX];
	const char *format = "tfunction_%05u";

	if (builder->is_signed && i < 5)
		format = "Acpu_data_%05u";
	else if (i % 100 == 7)
		format = "ddata_%05u";
	else if (i % 100 == 9)
		format = "Tglobal_%05u"; /* at the address of the one before */
	else if (i % 100 == 29)
		format = "t_function_%05u"; /* likewise, but a worse name */
	snprintf(text, sizeof(text), format, i);
	if (builder->has_long_one && i == 1000)
		memset(text + 5, 'x', 200);
	return text;
}

static uint64_t symbol_address(const struct builder *builder, uint32_t i)
{
	if (builder->is_signed && i < 5)
		return 0x1000 * i;
	return TEXT + DISTANCE * (uint64_t)(i - (i % 100 == 9 || i % 100 == 29));
}

static void put_offsets(struct builder *builder)
{
	const uint64_t base = BASE;
	uint32_t offset[SYMBOLS];

	for (uint32_t i = 0; i < SYMBOLS; i++) {
		uint64_t address = symbol_address(builder, i);

		if (!builder->is_signed)
			offset[i] = (uint32_t)(address - BASE);
		else if (address < TEXT)
			offset[i] = (uint32_t)address;
		else
			offset[i] = (uint32_t)(BASE - 1 - address);
	}
	put_aligned(builder, offset, sizeof(offset));
	put_aligned(builder, &base, sizeof(base));
}

/* Each character is a token, but "function_", which is token 1. */
static void put_names(struct builder *builder, uint32_t marker[])
{
	static uint8_t bytes[SYMBOLS * 32];
	const uint32_t count = SYMBOLS;
	size_t size = 0;

	for (uint32_t i = 0; i < SYMBOLS; i++) {
		const char *text = symbol_text(builder, i);
		uint8_t token[KALLSYMS_SYMBOL_MAX];
		size_t length = 0;

		if (i % KALLSYMS_STEP == 0)
			marker[i / KALLSYMS_STEP] = (uint32_t)size;
		while (*text) {
			bool is_function = strncmp(text, "function_", 9) == 0;

			token[length++] = is_function ? 1 : (uint8_t)*text;
			text += is_function ? 9 : 1;
		}
		if (length > 127) {
			bytes[size++] = (uint8_t)(length | 0x80);
			bytes[size++] = (uint8_t)(length >> 7);
		} else {
			bytes[size++] = (uint8_t)length;
		}
		memcpy(bytes + size, token, length);
		size += length;
	}
	put_aligned(builder, &count, sizeof(count));
	builder->names = builder->at;
	put_aligned(builder, bytes, size);
}

static void put_tokens(struct builder *builder)
{
	uint8_t text[KALLSYMS_TOKENS * 12];
	uint16_t place[KALLSYMS_TOKENS];
	size_t size = 0;

	for (unsigned int i = 0; i < KALLSYMS_TOKENS; i++) {
		place[i] = (uint16_t)size;
		if (i == 1) {
			memcpy(text + size, "function_", 9);
			size += 9;
		} else {
			text[size++] = i ? (uint8_t)i : '?';
		}
		text[size++] = 0;
	}
	put_aligned(builder, text, size);
	put_aligned(builder, place, sizeof(place));
}

/* Puts a kernel's tables into a new guest, after code and some data. */
static struct builder build(enum order order, bool is_signed)
{
	struct builder builder = {.guest = guest_new(mode),
				  .at = TABLES,
				  .is_signed = is_signed,
				  .has_long_one = order != LINUX_4_20};
	static const uint8_t noise[GUEST_PAGE_SIZE] = {1, 2, 3};
	uint32_t marker[SYMBOLS / KALLSYMS_STEP + 1];
	struct guest *guest = builder.guest;
	uint8_t other[3 * SYMBOLS];

	guest->cpu.efer |= X86_EFER_NXE;
	put_bytes(guest, TEXT, noise, sizeof(noise));
	put_bytes(guest, RODATA, noise, sizeof(noise));
	memset(other, 0xa5, sizeof(other));
	if (order != LINUX_6_4)
		put_offsets(&builder);
	put_names(&builder, marker);
	put_aligned(&builder, marker, sizeof(marker));
	if (order == LINUX_6_2)
		put_aligned(&builder, other, sizeof(other));
	put_tokens(&builder);
	if (order == LINUX_6_4)
		put_offsets(&builder);
	put_aligned(&builder, noise, sizeof(noise));
	return builder;
}

/* Forbids execution of data, as a kernel does once it has booted. */
static void protect_data(struct guest *guest)
{
	for (uint64_t at = RODATA; at < RODATA + (4u << 20); at += GUEST_PAGE_SIZE) {
		uint8_t *entry = entry_of(guest, at, mode->levels - 1);
		uint64_t value = get_entry(guest, entry);

		if (value & PRESENT)
			set_entry(guest, entry, value | 1ull << 63);
	}
}

/* Whether all ways to search had failed at the last look. */
static bool was_sought;

/* Looks for names until there are some, or nothing is due any more. */
static struct kallsyms *search(struct guest *guest, unsigned int *looks)
{
	struct kallsyms_search *search = kallsyms_search_new();
	const struct cpu cpu = {.family = CPU_FAMILY_X86, .x86 = guest->cpu};
	uint64_t now = NS_PER_S;
	struct kallsyms *kallsyms = NULL;

	assert_non_null(search);
	for (*looks = 0; !kallsyms && *looks < LOOKS; ++*looks) {
		now += 10 * NS_PER_S;
		if (!kallsyms_are_due(search, now))
			break;
		was_sought = kallsyms_were_sought(search);
		kallsyms_look(search, &cpu, &guest->memory, TEXT + 8, now);
		kallsyms = kallsyms_take(search);
	}
	assert_true(*looks < LOOKS);
	kallsyms_search_free(search);
	return kallsyms;
}

static void expect_names(const struct builder *builder, const struct kallsyms *kallsyms)
{
	struct kallsyms_function function;

	assert_int_equal(kallsyms->symbols, SYMBOLS);
	for (uint32_t i = 10; i < SYMBOLS - 1; i++) {
		uint64_t address = symbol_address(builder, i);
		uint32_t named = i % 100 == 8 ? i + 1 : i % 100 == 29 ? i - 1 : i;

		if (i % 100 == 7) {
			assert_false(kallsyms_find(kallsyms, address, &function));
			continue;
		}
		assert_true(kallsyms_find(kallsyms, address + 5, &function));
		assert_string_equal(function.name, symbol_text(builder, named) + 1);
		assert_int_equal(function.start, address);
		assert_true(function.next > address);
	}
	/* The last symbol is the kernel's end. */
	assert_false(kallsyms_find(kallsyms, symbol_address(builder, SYMBOLS - 1) + 1,
				   &function));
	assert_false(kallsyms_find(kallsyms, TEXT - 1, &function));
	assert_false(kallsyms_find(kallsyms, 0x1000, &function));
	assert_false(kallsyms_find(kallsyms, UINT64_MAX, &function));
}

static void names_are_found_in_the_orders_of_all_releases(void **state)
{
	(void)state;
	for (unsigned int order = 0; order < ORDERS; order++)
		for (int is_signed = 0; is_signed < 2; is_signed++) {
			struct builder builder = build(order, is_signed);
			struct kallsyms *kallsyms;
			unsigned int looks;

			protect_data(builder.guest);
			kallsyms = search(builder.guest, &looks);
			assert_non_null(kallsyms);
			expect_names(&builder, kallsyms);
			assert_true(looks < 200);
			kallsyms_free(kallsyms);
			free(builder.guest);
		}
}

static void names_are_found_in_a_kernel_that_boots(void **state)
{
	struct builder builder = build(LINUX_6_4, 0);
	unsigned int looks;
	struct kallsyms *kallsyms = search(builder.guest, &looks);

	(void)state;
	assert_non_null(kallsyms);
	assert_false(was_sought);
	expect_names(&builder, kallsyms);
	kallsyms_free(kallsyms);
	free(builder.guest);
}

static void a_guest_without_names_is_given_up(void **state)
{
	struct guest *guest = guest_new(mode);
	unsigned int looks;

	(void)state;
	map_new(guest, TEXT);
	assert_null(search(guest, &looks));
	assert_true(was_sought);
	free(guest);
}

/* Whatever the tables contain, a search ends, and names that it finds can be looked up.
 */
static void damaged_tables_are_safe(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (unsigned int round = 0; round < 150; round++) {
		struct builder builder = build(round % ORDERS, round % 2);
		size_t size = builder.at - TABLES;
		struct kallsyms_function function;
		struct kallsyms *kallsyms;
		unsigned int looks;

		for (unsigned int i = 0; i <= random_next(&seed) % 8; i++) {
			uint64_t at = TABLES + random_next(&seed) % size;

			*guest_byte(builder.guest, at) = (uint8_t)random_next(&seed);
		}
		protect_data(builder.guest);
		kallsyms = search(builder.guest, &looks);
		for (unsigned int i = 0; kallsyms && i < 200; i++) {
			uint64_t at = TEXT + random_next(&seed) % (SYMBOLS * DISTANCE);

			if (kallsyms_find(kallsyms, at, &function))
				assert_true(strlen(function.name) <
					    sizeof(function.name));
		}
		kallsyms_free(kallsyms);
		free(builder.guest);
	}
}

/* Places of tokens and markers everywhere take no more time than a search may. */
static void misleading_tables_take_bounded_time(void **state)
{
	struct guest *guest = guest_new(mode);
	struct builder tokens = {.guest = guest};
	uint32_t marker[GUEST_PAGE_SIZE / 4];
	unsigned int looks;

	(void)state;
	for (unsigned int i = 0; i < GUEST_PAGE_SIZE / 4; i++)
		marker[i] = i % 32 * STEP_BYTES;
	for (uint64_t page = 0; page < 600; page++)
		put_bytes(guest, RODATA + page * GUEST_PAGE_SIZE, marker, sizeof(marker));
	for (uint64_t page = 600; page < 700; page++) {
		tokens.at = RODATA + page * GUEST_PAGE_SIZE;
		put_tokens(&tokens);
	}
	protect_data(guest);
	guest->calls = 0;
	assert_null(search(guest, &looks));
	assert_true(guest->calls < 40000000);
	free(guest);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_found_in_the_orders_of_all_releases),
		cmocka_unit_test(names_are_found_in_a_kernel_that_boots),
		cmocka_unit_test(a_guest_without_names_is_given_up),
		cmocka_unit_test(damaged_tables_are_safe),
		cmocka_unit_test(misleading_tables_take_bounded_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

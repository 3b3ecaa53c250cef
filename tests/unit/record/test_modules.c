/* SPDX-License-Identifier: BSD-3-Clause */

/* Modules of a Linux kernel in a made-up guest's memory; the lab has real ones. */

#include "base/clock.h"
#include "record/linux/module_list.h"
#include "record/linux/modules.h"
#include "tests/unit/arch/test_x86.h"

#define HEAD	  0xffffffff82a4b0f0 /* address of the list's head */
#define MODULE(i) (0xffffffffc0200000 + (i)*0x10000ull)
#define STRUCT(i) (MODULE(i) + 0x3000 + 0x140) /* address of its struct module */
#define IPS(i)	  (MODULE(i) + 0x1ffc)	       /* its table of addresses, in two pages */
#define ROWS(i)	  (MODULE(i) + 0x2800)
#define CODE_SIZE 0x1800
#define MODULES	  5
#define MANY	  0xffffffffd0000000 /* more memory of modules */

static const struct module_layout layout = {
	.list = 8,
	.state = 0,
	.name = 24,
	.base = 320,
	.size = 332,
	.orcs = 512,
	.ips = 520,
	.rows = 528,
};

/* A row of a function: the return address is @offset - 8 bytes above rsp. Rows and their
 * end have the kinds of Linux 6.4 and later. */
struct row {
	uint32_t start; /* bytes from the start of the code */
	int16_t offset; /* 0: not known */
};
static const struct row plain[] = {{0, 8}, {0x10, 24}, {0x1000, 16}, {CODE_SIZE, 0}};

struct scene {
	struct guest *guest;
	struct modules *modules;
	uint64_t now;
};

static void put_word(struct guest *guest, uint64_t address, uint64_t word)
{
	put_bytes(guest, address, &word, sizeof(word));
}

static void put_int(struct guest *guest, uint64_t address, uint32_t number)
{
	put_bytes(guest, address, &number, sizeof(number));
}

static void put_rows(struct guest *guest, unsigned int i, const struct row *rows,
		     size_t count)
{
	for (size_t j = 0; j < count; j++) {
		const uint8_t row[] = {
			(uint8_t)rows[j].offset, 0, 0, 0, rows[j].offset ? 5 : 0,
			rows[j].offset ? 2 : 0};
		uint64_t at = IPS(i) + 4 * j;

		put_int(guest, at, (uint32_t)(MODULE(i) + rows[j].start - at));
		put_bytes(guest, ROWS(i) + 6 * j, row, sizeof(row));
	}
}

/* Puts a module into memory that is in use, but in no list. */
static void put_module(struct guest *guest, unsigned int i)
{
	const char name[] = "brd";

	put_int(guest, STRUCT(i) + layout.state, 0);
	put_bytes(guest, STRUCT(i) + layout.name, name, sizeof(name));
	put_word(guest, STRUCT(i) + layout.base, MODULE(i));
	put_int(guest, STRUCT(i) + layout.size, CODE_SIZE);
	put_int(guest, STRUCT(i) + layout.orcs, COUNT_OF(plain));
	put_word(guest, STRUCT(i) + layout.ips, IPS(i));
	put_word(guest, STRUCT(i) + layout.rows, ROWS(i));
	put_rows(guest, i, plain, COUNT_OF(plain));
}

static void put_link(struct guest *guest, uint64_t link, uint64_t next)
{
	put_word(guest, link, next);
	put_word(guest, next + 8, link);
}

/* Puts the modules whose bits are set in @set into the list, the last module first. */
static void put_list(struct guest *guest, unsigned int set)
{
	uint64_t link = HEAD;

	for (unsigned int i = MODULES; i-- > 0;) {
		if (!(set >> i & 1))
			continue;
		put_link(guest, link, STRUCT(i) + layout.list);
		link = STRUCT(i) + layout.list;
	}
	put_link(guest, link, HEAD);
}

static void begin_again(struct scene *scene)
{
	modules_free(scene->modules);
	scene->modules = modules_new(&layout);
	assert_non_null(scene->modules);
}

static int setup(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	scene->guest = guest_new(&mode_4_level);
	begin_again(scene);
	for (unsigned int i = 0; i < MODULES; i++)
		put_module(scene->guest, i);
	put_list(scene->guest, 0x7);
	*state = scene;
	return 0;
}

static int teardown(void **state)
{
	struct scene *scene = *state;

	modules_free(scene->modules);
	free(scene->guest);
	free(scene);
	return 0;
}

/* Looks for modules until nothing more is found, for a sample at @place, called from the
 * kernel. */
static void look_from(struct scene *scene, uint64_t place)
{
	const struct cpu cpu = {.family = CPU_FAMILY_X86, .x86 = scene->guest->cpu};
	uint64_t addresses[] = {place, 0xffffffff81234567};
	const struct chain chain = {.address = addresses, .count = 2};
	bool again = true;

	scene->now += 100 * NS_PER_S; /* even if looks take long on a busy machine */
	for (unsigned int i = 0; again; i++) {
		assert_true(i < 300);
		again = modules_are_due(scene->modules, &chain, scene->now) &&
			modules_look(scene->modules, &cpu, &scene->guest->memory, &chain,
				     scene->now);
	}
}

static const struct unwind_rule *rule(const struct scene *scene, uint64_t address)
{
	const struct unwind_table *table = modules_table(scene->modules);

	return table ? unwind_table_find(table, address) : NULL;
}

static void expect(const struct scene *scene, uint64_t address, int32_t offset)
{
	const struct unwind_rule *found = rule(scene, address);

	assert_non_null(found);
	assert_int_equal(found->kind, UNWIND_CALLER);
	assert_int_equal(found->cfa, offset);
	assert_int_equal(found->caller, -8);
}

static void a_module_has_the_rules_of_its_rows(void **state)
{
	struct scene *scene = *state;

	look_from(scene, MODULE(1) + 0x1010);
	expect(scene, MODULE(1), 8);
	expect(scene, MODULE(1) + 0xfff, 24);
	expect(scene, MODULE(1) + CODE_SIZE - 1, 16);
	assert_null(rule(scene, MODULE(1) + CODE_SIZE));
	/* The rules of other modules are not needed yet. */
	assert_null(rule(scene, MODULE(0) + 0x1010));
	look_from(scene, MODULE(0) + 0x1010);
	expect(scene, MODULE(0) + 0x1010, 16);
	expect(scene, MODULE(1) + 0x1010, 16);
}

/* The list is found from memory before or after the sampled code, and the sampled module
 * need not be in it yet. */
static void any_module_leads_to_the_list(void **state)
{
	struct scene *scene = *state;

	put_list(scene->guest, 0x1);
	look_from(scene, MODULE(2) + 0x100);
	assert_null(rule(scene, MODULE(2) + 0x100));
	put_list(scene->guest, 0x5);
	look_from(scene, MODULE(2) + 0x100);
	expect(scene, MODULE(2) + 0x100, 24);
}

static void code_of_no_module_has_no_rules(void **state)
{
	struct scene *scene = *state;

	look_from(scene, MODULE(3) + 0x100);
	look_from(scene, MODULE(0) + CODE_SIZE);
	look_from(scene, 0xffffffff81200000);
	assert_null(modules_table(scene->modules));
}

static void modules_that_come_later_are_found(void **state)
{
	struct scene *scene = *state;

	look_from(scene, MODULE(1));
	put_int(scene->guest, STRUCT(3) + layout.state, 3);
	put_list(scene->guest, 0x1f);
	/* Module 3 is being loaded, and its rows are not sorted yet. */
	look_from(scene, MODULE(3));
	assert_null(rule(scene, MODULE(3)));
	put_int(scene->guest, STRUCT(3) + layout.state, 1);
	look_from(scene, MODULE(3));
	expect(scene, MODULE(3), 8);
	expect(scene, MODULE(1), 8);
}

static void modules_that_go_leave_no_rules(void **state)
{
	static const struct row other[] = {{0, 40}, {CODE_SIZE, 0}};
	struct scene *scene = *state;

	look_from(scene, MODULE(1));
	look_from(scene, MODULE(2));
	/* Another module takes the place of module 1, and is the newest. */
	put_list(scene->guest, 0x5);
	put_rows(scene->guest, 1, other, COUNT_OF(other));
	put_int(scene->guest, STRUCT(1) + layout.orcs, COUNT_OF(other));
	put_link(scene->guest, STRUCT(1) + layout.list, STRUCT(2) + layout.list);
	put_link(scene->guest, HEAD, STRUCT(1) + layout.list);
	look_from(scene, 0xffffffff81200000);
	assert_null(rule(scene, MODULE(1)));
	look_from(scene, MODULE(2));
	look_from(scene, MODULE(1));
	expect(scene, MODULE(1), 40);
	expect(scene, MODULE(2), 8);
}

static void rows_have_no_effect_outside_their_module(void **state)
{
	static const struct row wide[] = {{0xffff0000, 40}, {0x100, 16}, {0x20000, 0}};
	struct scene *scene = *state;

	put_rows(scene->guest, 1, wide, COUNT_OF(wide));
	put_int(scene->guest, STRUCT(1) + layout.orcs, COUNT_OF(wide));
	look_from(scene, MODULE(1));
	assert_null(rule(scene, MODULE(1) - 1));
	expect(scene, MODULE(1), 40);
	expect(scene, MODULE(1) + CODE_SIZE - 1, 16);
	assert_null(rule(scene, MODULE(1) + CODE_SIZE));
	assert_null(rule(scene, MODULE(2)));
}

/* Repairs the list, which is then found. */
static void repair(struct scene *scene)
{
	look_from(scene, MODULE(0));
	assert_null(modules_table(scene->modules));
	put_module(scene->guest, 1);
	put_list(scene->guest, 0x7);
	for (unsigned int i = 0; i < 200; i++)
		look_from(scene, MODULE(0));
	expect(scene, MODULE(0), 8);
	begin_again(scene);
}

/* A list that a hostile guest may have, or a guest that is just changing it: nothing is
 * found, in bounded time. */
static void lists_that_are_not_whole_are_not_followed(void **state)
{
	static const struct {
		uint64_t at, value;
	} damages[] = {
		{STRUCT(0) + 8, STRUCT(2) + 8},	  /* a circle without the head */
		{STRUCT(1) + 8, STRUCT(1) + 8},	  /* a circle of one link */
		{STRUCT(2) + 8, 0},		  /* the end */
		{STRUCT(2) + 8, UINT64_MAX},	  /* a link to nowhere */
		{STRUCT(2) + 8, 0x10000},	  /* a link into a program */
		{STRUCT(2) + 8, HEAD + 4},	  /* a link that is not aligned */
		{STRUCT(1) + 16, HEAD},		  /* a link that does not lead back */
		{STRUCT(1) + 24, 0x0064726207},	  /* not a name */
		{STRUCT(1) + 24, 0},		  /* an empty name */
		{STRUCT(1) + 320, MODULE(1) + 8}, /* code that does not start a page */
		{STRUCT(1) + 320, 0xffffffff81000000},	 /* code inside the kernel */
		{STRUCT(1) + 320, MODULES_END - 0x1000}, /* too far up */
		{STRUCT(1) + 328, 0x5000000ull << 32},	 /* too large */
		{STRUCT(1), 4},				 /* no state */
	};
	struct scene *scene = *state;

	for (size_t i = 0; i < COUNT_OF(damages); i++) {
		put_word(scene->guest, damages[i].at, damages[i].value);
		repair(scene);
	}
}

static void a_list_that_breaks_later_is_not_followed(void **state)
{
	struct scene *scene = *state;

	look_from(scene, MODULE(0));
	put_word(scene->guest, STRUCT(1) + layout.list, STRUCT(1) + layout.list);
	put_int(scene->guest, STRUCT(0) + layout.orcs, COUNT_OF(plain) - 1);
	look_from(scene, MODULE(2));
	expect(scene, MODULE(0), 8);
	put_word(scene->guest, HEAD, 0);
	look_from(scene, MODULE(2));
	expect(scene, MODULE(0), 8);
}

static void a_list_has_one_head(void **state)
{
	struct scene *scene = *state;

	/* Two links are in the kernel. */
	put_link(scene->guest, STRUCT(1) + layout.list, HEAD + 16);
	put_link(scene->guest, HEAD + 16, STRUCT(0) + layout.list);
	repair(scene);
	/* The head is not in the kernel. */
	put_link(scene->guest, STRUCT(0) + layout.list, STRUCT(2) + layout.list);
	put_word(scene->guest, STRUCT(1) + layout.name, 0);
	repair(scene);
}

/* Puts @count modules in a list, all with the code of module 0; @is_open: without the
 * head. */
static void put_many(struct guest *guest, unsigned int count, bool is_open)
{
	const size_t step = 9 * MODULE_ALIGN;
	uint64_t link = is_open ? MANY + (count - 1) * step + layout.list : HEAD;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t module = MANY + i * step;

		put_bytes(guest, module + layout.name, "many", 5);
		put_word(guest, module + layout.base, MODULE(0));
		put_int(guest, module + layout.size, CODE_SIZE);
		put_word(guest, module + layout.rows, 0);
		put_link(guest, link, module + layout.list);
		link = module + layout.list;
	}
	if (!is_open)
		put_link(guest, link, HEAD);
}

static void lists_have_a_limit(void **state)
{
	struct scene *scene = *state;

	look_from(scene, MODULE(2));
	put_many(scene->guest, MODULES_MAX + 1, false);
	look_from(scene, MODULE(1));
	expect(scene, MODULE(2), 8);
	put_many(scene->guest, MODULES_MAX, false);
	look_from(scene, MODULE(1));
	assert_null(modules_table(scene->modules));
}

/* From each place, the search in this guest takes as long as possible. */
static void a_look_takes_bounded_time(void **state)
{
	struct scene *scene = *state;
	const struct cpu cpu = {.family = CPU_FAMILY_X86, .x86 = scene->guest->cpu};
	uint64_t address = MANY;
	const struct chain chain = {.address = &address, .count = 1};

	put_many(scene->guest, MODULES_MAX - 1, true);
	scene->guest->calls = 0;
	assert_true(modules_look(scene->modules, &cpu, &scene->guest->memory, &chain, 1));
	assert_in_range(scene->guest->calls, MODULE_SCAN_PAGES,
			READ_PAGES_MAX * (MODULE_WORDS + MODULE_SCAN_PAGES));
	assert_null(modules_table(scene->modules));
}

/* Gives a module more rows, most of them for addresses after its code. */
static void put_big(struct guest *guest, unsigned int i, uint32_t rows)
{
	uint64_t at = MANY + i * 0x400000ull, zero = guest->next++;

	for (uint64_t page = 1; page < 512; page++)
		map(guest, at + page * GUEST_PAGE_SIZE, zero, GUEST_PAGE_SHIFT);
	put_int(guest, at, (uint32_t)(MODULE(i) - at));
	put_bytes(guest, at + 0x100000, "\10\0\0\0\5\2", 6);
	put_word(guest, STRUCT(i) + layout.ips, at);
	put_word(guest, STRUCT(i) + layout.rows, at + 0x100000);
	put_int(guest, STRUCT(i) + layout.orcs, rows);
}

static void tables_have_limits(void **state)
{
	struct scene *scene = *state;

	put_int(scene->guest, STRUCT(2) + layout.orcs, UINT32_MAX);
	look_from(scene, MODULE(2));
	put_big(scene->guest, 2, MODULE_ROWS_MAX + 1);
	look_from(scene, MODULE(2));
	assert_null(modules_table(scene->modules));
	put_module(scene->guest, 2);
	/* There are more rows than mapped memory. */
	put_int(scene->guest, STRUCT(2) + layout.orcs, MODULE_ROWS_MAX);
	look_from(scene, MODULE(2));
	put_int(scene->guest, STRUCT(2) + layout.orcs, COUNT_OF(plain));
	put_word(scene->guest, STRUCT(2) + layout.ips, UINT64_MAX - 2);
	look_from(scene, MODULE(2));
	put_word(scene->guest, STRUCT(2) + layout.ips, IPS(2));
	put_word(scene->guest, STRUCT(2) + layout.rows, 0x8000000000000000);
	look_from(scene, MODULE(2));
	assert_null(modules_table(scene->modules));
	put_word(scene->guest, STRUCT(2) + layout.rows, ROWS(2));
	look_from(scene, MODULE(2));
	expect(scene, MODULE(2), 8);
}

static void all_modules_together_have_a_limit(void **state)
{
	struct scene *scene = *state;

	for (unsigned int i = 0; i < MODULES; i++)
		put_big(scene->guest, i, MODULE_ROWS_MAX);
	put_list(scene->guest, 0x1f);
	for (unsigned int i = 0; i < MODULES; i++)
		look_from(scene, MODULE(i));
	for (unsigned int i = 0; i < MODULES_ROWS_MAX / MODULE_ROWS_MAX; i++)
		expect(scene, MODULE(i), 8);
	assert_null(rule(scene, MODULE(MODULES - 1)));
}

/* A guest whose modules change each time: the first looks are made at once, later ones
 * wait. */
static void looks_become_rare(void **state)
{
	struct scene *scene = *state;
	const struct cpu cpu = {.family = CPU_FAMILY_X86, .x86 = scene->guest->cpu};
	uint64_t address = MODULE(3);
	const struct chain chain = {.address = &address, .count = 1};
	unsigned int looks = 0;

	for (; modules_are_due(scene->modules, &chain, 1); looks++)
		modules_look(scene->modules, &cpu, &scene->guest->memory, &chain, 1);
	assert_in_range(looks, 2, 300);
	assert_false(
		modules_look(scene->modules, &cpu, &scene->guest->memory, &chain, 1));
	assert_false(modules_are_due(scene->modules, &chain, 2 + NS_PER_S / 20));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_module_has_the_rules_of_its_rows),
		TEST(any_module_leads_to_the_list),
		TEST(code_of_no_module_has_no_rules),
		TEST(modules_that_come_later_are_found),
		TEST(modules_that_go_leave_no_rules),
		TEST(rows_have_no_effect_outside_their_module),
		TEST(lists_that_are_not_whole_are_not_followed),
		TEST(a_list_that_breaks_later_is_not_followed),
		TEST(a_list_has_one_head),
		TEST(lists_have_a_limit),
		TEST(a_look_takes_bounded_time),
		TEST(tables_have_limits),
		TEST(all_modules_together_have_a_limit),
		TEST(looks_become_rare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

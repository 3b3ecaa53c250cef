/* SPDX-License-Identifier: BSD-3-Clause */

/* Code in a guest's memory is read once its pages are there, as those of a GDB stub's
 * guest are only some rounds after they were asked for. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/learning/learning.h"
#include "tables/found_code.h"

/* The guest has no paging. Its code is on pages in a row, with a function on each. */
#define CODE  0x400000ull
#define PAGES 20
#define STEP  3 /* number of pages that are read in a round */

/* push %rbx; call the next page; pop %rbx; ret */
static const uint8_t function[] = {0x53, 0xe8, 0xfa, 0x0f, 0x00, 0x00, 0x5b, 0xc3};

struct scene {
	uint8_t page[PAGES][GUEST_PAGE_SIZE];
	bool is_asked[PAGES], is_there[PAGES];
	struct code_search search;
};

static const void *late_page(void *context, uint64_t frame)
{
	struct scene *scene = context;
	uint64_t number = frame - CODE / GUEST_PAGE_SIZE;

	if (number >= PAGES)
		return NULL;
	scene->is_asked[number] = true;
	return scene->is_there[number] ? scene->page[number] : NULL;
}

/* What a pause does. */
static void read_pages(struct scene *scene)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < PAGES && count < STEP; i++) {
		count += scene->is_asked[i] && !scene->is_there[i];
		scene->is_there[i] = scene->is_asked[i];
	}
}

static void begin_pages(void *memory, uint64_t now, unsigned int map_calls)
{
	(void)memory, (void)now, (void)map_calls;
}

static struct scene *scene_new(void)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	for (unsigned int i = 0; i < PAGES; i++) {
		memset(scene->page[i], 0xcc, GUEST_PAGE_SIZE);
		memcpy(scene->page[i], function, sizeof(function));
	}
	scene->is_there[0] = scene->is_there[PAGES / 2] = true;
	scene->search.examiner = examiner_new();
	scene->search.chains_min = 1;
	assert_non_null(scene->search.examiner);
	return scene;
}

static void scene_free(struct scene *scene)
{
	code_search_free(&scene->search);
	examiner_free(scene->search.examiner);
	free(scene);
}

/* Takes a round whose chain leads astray at @address. True if the next one may be better.
 */
static bool take_round(struct scene *scene, uint64_t address)
{
	static const struct guest_ops ops = {.begin_pages = begin_pages};
	const struct unwind_input input = {
		.memory = {.page = late_page, .context = scene}};
	struct guest_vcpu vcpu = {
		.captured = true,
		.cpu = {.family = CPU_FAMILY_X86, .x86.efer = X86_EFER_LMA}};
	const struct guest guest = {.ops = &ops, .info.vcpus = 1, .vcpu = &vcpu};
	struct sample sample = {
		.chain = {.address = &address, .count = 1, .end = CHAIN_NOT_PRESENT}};
	struct round round = {.samples = 1, .sample = &sample};

	read_pages(scene);
	code_search_run(&scene->search, &guest, &input, &round);
	return round.found_code;
}

static void code_is_read_in_one_piece(void **state)
{
	const uint64_t place = CODE + PAGES / 2 * GUEST_PAGE_SIZE;
	const struct cpu cpu = {.family = CPU_FAMILY_X86};
	struct scene *scene = scene_new();
	unsigned int rounds = 0;

	(void)state;
	while (!code_search_table(&scene->search)) {
		assert_true(take_round(scene, place));
		assert_true(rounds++ < 2 * PAGES / STEP);
	}
	assert_int_equal(found_code_parts(scene->search.found), 1);
	for (unsigned int i = 0; i < PAGES; i++)
		assert_false(found_code_lacks(scene->search.found, &cpu,
					      CODE + i * GUEST_PAGE_SIZE));
	assert_false(take_round(scene, place));
	scene_free(scene);
}

/* Frame pointers may lead astray until there is a table, which is then not blamed. */
static void a_new_table_is_not_blamed_for_earlier_chains(void **state)
{
	static const struct guest_ops ops = {.begin_pages = begin_pages,
					     .map_page = late_page};
	const uint64_t place = CODE + PAGES / 2 * GUEST_PAGE_SIZE, none = place + 0x800;
	struct scene *scene = scene_new();
	struct guest_vcpu vcpu = {
		.captured = true,
		.cpu = {.family = CPU_FAMILY_X86, .x86.efer = X86_EFER_LMA}};
	struct guest guest = {
		.ops = &ops, .memory = scene, .info.vcpus = 1, .vcpu = &vcpu};
	struct learning *learning = calloc(1, sizeof(*learning));
	uint64_t key = return_key(place, cpu_space(&vcpu.cpu));
	bool was_wrong = false;

	(void)state;
	assert_non_null(learning);
	learning->guest = &guest;
	learning->code = scene->search;
	for (unsigned int i = 0; !code_search_table(&learning->code); i++) {
		uint64_t address[] = {place, none};
		struct sample sample = {.chain = {.address = address,
						  .count = 2,
						  .end = CHAIN_NOT_PRESENT}};
		struct round round = {.samples = 1, .sample = &sample};

		assert_true(i < 2 * PAGES);
		read_pages(scene);
		learning_study(learning, &round);
		was_wrong |= guess_was_wrong(&learning->returns, key);
	}
	assert_true(was_wrong);
	assert_false(guess_was_wrong(&learning->returns, key));
	scene->search = learning->code;
	free(learning);
	scene_free(scene);
}

/* A page that can't be read does not hold up the search. */
static void missing_code_is_given_up(void **state)
{
	struct scene *scene = scene_new();

	(void)state;
	for (unsigned int i = 0; i < 10 && take_round(scene, 2 * CODE); i++)
		assert_true(i < 3);
	assert_null(code_search_table(&scene->search));
	scene_free(scene);
}

/* Otherwise such chains would be studied in each round, though nothing is looked for. */
static void no_chain_is_astray_without_an_examiner(void **state)
{
	const struct unwind_input input = {0};
	struct code_search search = {.examiner = examiner_new()};
	struct examiner *examiner = search.examiner;
	uint64_t address = CODE;
	struct sample sample = {
		.chain = {.address = &address, .count = 1, .end = CHAIN_UNKNOWN}};

	(void)state;
	assert_non_null(examiner);
	assert_true(code_search_is_astray(&search, &sample, &input));
	search.examiner = NULL;
	assert_false(code_search_is_astray(&search, &sample, &input));
	examiner_free(examiner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_read_in_one_piece),
		cmocka_unit_test(a_new_table_is_not_blamed_for_earlier_chains),
		cmocka_unit_test(missing_code_is_given_up),
		cmocka_unit_test(no_chain_is_astray_without_an_examiner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

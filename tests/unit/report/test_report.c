/* SPDX-License-Identifier: BSD-3-Clause */

/* The basis of the outputs of report/: texts, JSON, trees and their order. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/names.h"
#include "base/text.h"
#include "base/tree.h"
#include "report/model/calls.h"
#include "output/write/json.h"
#include "tests/unit/report/test_model.h"

static void only_printable_utf8_characters_are_accepted(void **state)
{
	static const struct {
		const char *text;
		size_t length;
	} cases[] = {
		{"a", 1},
		{"", 0},
		{"\n", 0},
		{"\x7f", 0},
		{"\xc2\x9b", 0},	 /* CSI, as one character */
		{"\xc2\xa0", 2},	 /* U+00A0 */
		{"\xc0\xaf", 0},	 /* overlong '/' */
		{"\xdf\xbf", 2},	 /* U+07FF */
		{"\xe0\x9f\xbf", 0},	 /* overlong U+07FF */
		{"\xe0\xa0\x80", 3},	 /* U+0800 */
		{"\xed\xa0\x80", 0},	 /* a surrogate */
		{"\xef\xbf\xbf", 3},	 /* U+FFFF */
		{"\xf0\x8f\xbf\xbf", 0}, /* overlong U+FFFF */
		{"\xf0\x90\x80\x80", 4}, /* U+10000 */
		{"\xf4\x8f\xbf\xbf", 4}, /* U+10FFFF */
		{"\xf4\x90\x80\x80", 0}, /* past the end */
		{"\xe2\x82", 0},	 /* cut off */
		{"\xf0\x90\x80", 0},
		{"\x80", 0},
		{"\xff", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (text_character(cases[i].text) != cases[i].length)
			fail_msg("case %zu", i);
}

static void texts_are_cleaned_for_lines_and_stacks(void **state)
{
	char text[64];

	(void)state;
	text_clean(text, "a;b\nc\td\x1b[0m");
	assert_string_equal(text, "a:b?c?d?[0m");
	text_clean(text, "caf\xc3\xa9 \xc3");
	assert_string_equal(text, "caf\xc3\xa9 ?");
	text_clean(text, text);
	assert_string_equal(text, "caf\xc3\xa9 ?");
	text_word(text, sizeof(text), "my (guest)/1 \xc3\xa9");
	assert_string_equal(text, "my__guest__1___");
	text_word(text, 4, "abcdef");
	assert_string_equal(text, "abc");
}

static void times_are_iso_8601(void **state)
{
	char text[TEXT_TIME_SIZE];

	(void)state;
	text_time(text, 1700000000123456789u, true);
	assert_string_equal(text, "2023-11-14T22:13:20Z");
	setenv("TZ", "IST-5:30", 1);
	text_time(text, 1700000000123456789u, false);
	assert_string_equal(text, "2023-11-15T03:43:20+05:30");
	unsetenv("TZ");
}

static void json_is_nested_and_escaped(void **state)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct json *json = json_new(out);

	(void)state;
	json_object(json, NULL);
	json_string(json, "a\"b", "\\ \n \x01 \xff \xe2\x82\xac");
	json_array(json, "empty");
	json_end(json);
	json_array(json, "rows");
	for (int i = 0; i < 2; i++) {
		json_object(json, NULL);
		json_number(json, "n", UINT64_MAX);
		json_array(json, "x");
		json_real(json, NULL, 0.5, 2);
		json_real(json, NULL, 0.0 / 0.0, 2);
		json_end(json);
		json_end(json);
	}
	json_end(json);
	json_end(json);
	json_free(json);
	fclose(out);
	assert_string_equal(
		text, "{\n"
		      "\t\"a\\\"b\": \"\\\\ \\u000a \\u0001 \\ufffd \xe2\x82\xac\",\n"
		      "\t\"empty\": [],\n"
		      "\t\"rows\": [\n"
		      "\t\t{\"n\": 18446744073709551615, \"x\": [0.50, null]},\n"
		      "\t\t{\"n\": 18446744073709551615, \"x\": [0.50, null]}\n"
		      "\t]\n"
		      "}\n");
	free(text);
}

static void equal_paths_share_a_node(void **state)
{
	struct tree tree;
	uint32_t nodes[20000];

	(void)state;
	assert_int_equal(tree_init(&tree, 3), 0);
	for (uint32_t i = 0; i < 20000; i++) {
		nodes[i] = tree_intern(&tree, i < 3 ? i : nodes[i / 2], i % 7);
		assert_int_not_equal(nodes[i], TREE_NONE);
		assert_true(tree.nodes[nodes[i]].parent < nodes[i]);
	}
	for (uint32_t i = 0; i < 20000; i++)
		assert_int_equal(nodes[i],
				 tree_intern(&tree, i < 3 ? i : nodes[i / 2], i % 7));
	tree_free(&tree);
}

#define STACKS 3000
#define DEPTH  5

/* Chains of short names, many of which are prefixes of others: "a", "a b", "aa", "a+" ...
 */
struct fixture {
	struct model model;
	char *lines[STACKS];
};

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static const char *const short_names[] = {"a", "a b", "aa", "a+", "b", "a.b", "z", "a<"};

static int make_stacks(void **state)
{
	static uint32_t parent[SAMPLES_ROOTS + STACKS * DEPTH], stack[STACKS];
	static uint64_t address[SAMPLES_ROOTS + STACKS * DEPTH], time[STACKS];
	static uint32_t domain[STACKS];
	static uint64_t counts[STACKS];
	struct samples_batch batch = {.count = STACKS,
				      .nodes = SAMPLES_ROOTS,
				      .time = time,
				      .stack = stack,
				      .domain = domain,
				      .parent = parent,
				      .address = address};
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	char list[256] = "";
	unsigned int seed = 1;

	*state = fixture;
	for (size_t i = 0; i < 8; i++)
		sprintf(list + strlen(list), "%zx T %s\n", 0x1000 + i * 0x100,
			short_names[i]);
	if (model_init(&fixture->model, list) < 0)
		return -1;
	for (uint32_t i = 0; i < STACKS; i++) {
		unsigned int depth = 1 + (unsigned int)rand_r(&seed) % DEPTH;
		uint32_t node = (uint32_t)rand_r(&seed) % CHAIN_ENDS;
		char line[64] = "";

		for (unsigned int j = 0; j < depth; j++) {
			unsigned int function = (unsigned int)rand_r(&seed) % 8;

			parent[batch.nodes] = node;
			address[batch.nodes] = 0x1001 + function * 0x100 +
					       (unsigned int)rand_r(&seed) % 0xff;
			node = (uint32_t)batch.nodes++;
			if (j)
				strcat(line, ";");
			strcat(line, short_names[function]);
		}
		stack[i] = node;
		counts[i] = 1;
		fixture->lines[i] = strdup(line);
	}
	qsort(fixture->lines, STACKS, sizeof(char *), compare_lines);
	return stacks_add(fixture->model.stacks, &batch, counts);
}

static int free_stacks(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < STACKS; i++)
		free(fixture->lines[i]);
	model_free(&fixture->model);
	free(fixture);
	return 0;
}

struct walk {
	struct fixture *fixture;
	uint32_t path[DEPTH];
	unsigned int depth;
	size_t next; /* of the fixture's lines */
};

static void expect_line(void *arg, uint32_t function, uint64_t count)
{
	struct walk *walk = arg;
	struct frames *frames = walk->fixture->model.frames;
	char line[64] = "";

	for (unsigned int i = 0; i < walk->depth; i++) {
		strcat(line, frames_function_name(frames, walk->path[i]));
		strcat(line, ";");
	}
	strcat(line, frames_function_name(frames, function));
	assert_int_not_equal(count, 0);
	while (count--)
		assert_string_equal(walk->fixture->lines[walk->next++], line);
	assert_true(walk->next == STACKS ||
		    strcmp(walk->fixture->lines[walk->next], line) > 0);
}

static void expect_domain(void *arg, uint32_t function)
{
	struct walk *walk = arg;

	assert_string_equal(frames_function_name(walk->fixture->model.frames, function),
			    "domain-?");
	assert_int_equal(walk->depth, 0);
}

static void enter_function(void *arg, uint32_t function, uint64_t count)
{
	struct walk *walk = arg;

	assert_int_not_equal(count, 0);
	walk->path[walk->depth++] = function;
}

static void leave_function(void *arg, uint32_t function)
{
	struct walk *walk = arg;

	assert_int_equal(walk->path[--walk->depth], function);
}

static void calls_are_sorted_by_name(void **state)
{
	struct walk walk = {.fixture = *state};
	struct calls_visitor visitor = {expect_line, expect_domain, enter_function,
					leave_function, &walk};
	struct calls *calls = calls_new(walk.fixture->model.stacks,
					walk.fixture->model.frames);

	assert_non_null(calls);
	calls_walk(calls, &visitor);
	assert_int_equal(walk.next, STACKS);
	assert_int_equal(walk.depth, 0);
	calls_free(calls);
}

static void inclusive_counts_add_up(void **state)
{
	const struct fixture *fixture = *state;
	uint64_t *inclusive = stacks_inclusive(fixture->model.stacks), sum = 0;

	for (uint32_t i = 0; i < SAMPLES_ROOTS; i++)
		sum += inclusive[i];
	assert_int_equal(sum, STACKS);
	free(inclusive);
}

static void callers_are_looked_up_before_their_address(void **state)
{
	const struct fixture *fixture = *state;
	struct frames *frames = fixture->model.frames;
	uint32_t leaf = frames_find(frames, 0, 0x1100, FRAME_LEAF);
	uint32_t caller = frames_find(frames, 0, 0x1100, FRAME_CALLER);
	uint32_t none = frames_find(frames, 0, 0x1000, FRAME_CALLER);
	uint32_t zero = frames_find(frames, 0, 0, FRAME_CALLER);

	assert_string_equal(
		frames_function_name(frames, frames_get(frames, leaf)->function), "a b");
	assert_string_equal(
		frames_function_name(frames, frames_get(frames, caller)->function), "a");
	assert_int_equal(frames_get(frames, caller)->offset, 0x100);
	assert_string_equal(
		frames_function_name(frames, frames_get(frames, none)->function),
		"0x1000");
	assert_false(frames_function_known(frames, frames_get(frames, none)->function));
	assert_null(frames_get(frames, zero)->dso);
	assert_int_equal(frames_find(frames, 0, 0x1100, FRAME_LEAF), leaf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_printable_utf8_characters_are_accepted),
		cmocka_unit_test(texts_are_cleaned_for_lines_and_stacks),
		cmocka_unit_test(times_are_iso_8601),
		cmocka_unit_test(json_is_nested_and_escaped),
		cmocka_unit_test(equal_paths_share_a_node),
		cmocka_unit_test_setup_teardown(calls_are_sorted_by_name, make_stacks,
						free_stacks),
		cmocka_unit_test_setup_teardown(inclusive_counts_add_up, make_stacks,
						free_stacks),
		cmocka_unit_test_setup_teardown(
			callers_are_looked_up_before_their_address, make_stacks,
			free_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

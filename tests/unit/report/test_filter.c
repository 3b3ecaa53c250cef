/* SPDX-License-Identifier: BSD-3-Clause */

/* Time ranges of a recording, cut and inverted call chains, and filters. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/load/window.h"
#include "report/model/calls.h"
#include "report/model/filter.h"
#include "tests/unit/report/test_model.h"

static void time_windows_are_in_seconds_or_percent(void **state)
{
	static const struct {
		const char *text;
		uint64_t from, to; /* in a recording that starts at 1,000, of 5 s */
	} right[] = {
		{"1.5,3", 1500001000, 3000001000},
		{"10%,20%", 500001000, 1000001000},
		{"0.000000001%,50%", 0, 2500001000},
		{"1,50%", 1000001000, 2500001000},
		{"2,", 2000001000, UINT64_MAX},
		{",2", 0, 2000001000},
		{",100%", 0, UINT64_MAX},
		{"0,1", 0, 1000001000},
		{"99.5%,", 4975001000, UINT64_MAX},
	};
	static const char *const wrong[] = {"",
					    ",",
					    "1",
					    "2,1",
					    "1,1",
					    "-1,2",
					    "1 ,2",
					    "1;2",
					    "100.1%,",
					    "%,1",
					    "1,2,",
					    "1e3,2",
					    "20%,20%",
					    "0000000000000000000000000000000000000000000"
					    "00000000000000000000000001,2"};
	struct window_span span = {.start = 1000, .length = 5000000000};
	struct window window = {0};
	uint64_t from, to;

	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		if (window_parse(right[i].text, &window) < 0)
			fail_msg("%s", right[i].text);
		assert_int_equal(window_place(&window, &span, &from, &to), 0);
		assert_int_equal(from, right[i].from);
		assert_int_equal(to, right[i].to);
		assert_int_equal(window_needs_length(&window),
				 strchr(right[i].text, '%') != NULL);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (window_parse(wrong[i], &window) == 0)
			fail_msg("%s", wrong[i]);
	/* A recording may contain any times. */
	assert_int_equal(window_parse("1,2", &window), 0);
	span = (struct window_span){.start = UINT64_MAX - 1500000000};
	window_place(&window, &span, &from, &to);
	assert_int_equal(from, UINT64_MAX - 500000000);
	assert_int_equal(to, UINT64_MAX);
	assert_int_equal(window_parse("50%,60%", &window), 0);
	span = (struct window_span){.wall = UINT64_MAX, .length = UINT64_MAX};
	window_place(&window, &span, &from, &to);
	assert_int_equal(from, UINT64_MAX / 2);
}

/* 2026-11-22T22:00:00 in Berlin, 21:00:00 UTC */
#define EVENING 1795381200ull

static void time_windows_by_the_clock(void **state)
{
	static const struct {
		const char *text;
		uint64_t start, length; /* of the recording, in seconds */
		int64_t from, to;	/* seconds after its start; -1: not limited */
	} right[] = {
		/* on the day of the start */
		{"22:10:20,22:10:40", EVENING, 3600, 620, 640},
		{"22:10,22:11", EVENING, 3600, 600, 660},
		{"22:00,22:11", EVENING, 3600, -1, 660},
		{"21:50,22:11", EVENING, 3600, -1, 660},
		/* over midnight, and after it */
		{"23:50,00:10", EVENING, 4 * 3600, 6600, 7800},
		{"00:30,01:00", EVENING, 4 * 3600, 9000, 10800},
		{"00:30,01:00", EVENING + 4 * 3600, 3600, 81000, 82800},
		/* one end */
		{"22:10,", EVENING, 3600, 600, -1},
		{"21:50,", EVENING, 3600, -1, -1},
		{"00:30,", EVENING, 4 * 3600, 9000, -1},
		{",22:10", EVENING, 3600, -1, 600},
		{",00:10", EVENING, 4 * 3600, -1, 7800},
		/* with the other in seconds or percent */
		{"60,22:10", EVENING, 3600, 60, 600},
		{"22:10,900", EVENING, 3600, 600, 900},
		{"22:10,50%", EVENING, 3600, 600, 1800},
		/* more than a day: the first such TO after FROM */
		{"21:00,22:30", EVENING, 50 * 3600, -1, 1800},
		{"24000,22:30", EVENING, 50 * 3600, 24000, 88200},
		/* with a date */
		{"2026-11-22T22:10:20,2026-11-22T22:10:40", EVENING, 3600, 620, 640},
		{"2026-11-23T22:10,2026-11-23T22:11", EVENING, 3600, 87000, 87060},
		{"2026-11-22T21:10:20Z,2026-11-22T22:10:40+01:00", EVENING, 3600, 620,
		 640},
		{"2026-11-22T16:10-0500,", EVENING, 3600, 600, -1},
		{"2025-01-01T00:00,", EVENING, 3600, -1, -1},
		{"2026-11-22T22:10,22:20", EVENING, 3600, 600, 1200},
		/* on the day when summer time ends, October 25, 22:00 is 25 h after 22:00
		 */
		{"80000,22:00", 1792872000, 100000, 80000, 90000},
	};
	static const char *const wrong[] = {
		"24:00,",
		"14:60,",
		"14:00:60,",
		"14,15:00:",
		"1:00,",
		"14:00.5,",
		"14:00:00.,",
		"14:00,14:00",
		"14:00Z,",
		"2026-13-01T14:00,",
		"2026-02-30T14:00,",
		"2026-11-22,",
		"2026-11-22 14:00,",
		"2026-11-22T14:00+1,",
		"2026-11-22T14:00,2026-11-22T14:00",
		"2026-11-22T15:00,2026-11-22T14:00",
		"1969-12-31T23:00Z,",
		"14:00%,",
	};
	struct window window;
	uint64_t from, to;

	(void)state;
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		struct window_span span = {1000, right[i].start * 1000000000,
					   right[i].length * 1000000000};

		if (window_parse(right[i].text, &window) < 0)
			fail_msg("%s", right[i].text);
		assert_int_equal(window_place(&window, &span, &from, &to), 0);
		if (from != (right[i].from < 0 ? 0
					       : 1000 + right[i].from * 1000000000ull) ||
		    to != (right[i].to < 0 ? UINT64_MAX
					   : 1000 + right[i].to * 1000000000ull))
			fail_msg("%s: from %.3f to %.3f", right[i].text, from / 1e9,
				 to / 1e9);
		/* Windows that do not need the length do not depend on it. */
		if (!window_needs_length(&window)) {
			uint64_t other_from, other_to;

			span.length = 0;
			window_place(&window, &span, &other_from, &other_to);
			assert_int_equal(other_from, from);
			assert_int_equal(other_to, to);
		}
		span.wall = 0;
		assert_int_equal(window_place(&window, &span, &from, &to), -1);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (window_parse(wrong[i], &window) == 0)
			fail_msg("%s", wrong[i]);
	assert_int_equal(window_parse("14:00:00.25,", &window), 0);
	assert_int_equal(window.from.value, 14 * 3600 * 1000000000ull + 250000000);
}

/* Chains of four functions a to d, at 0x1000 to 0x1300; no other address has a name. */
static const struct {
	uint32_t root;
	unsigned int depth;
	uint64_t address[4]; /* outermost first */
} chains[] = {
	{CHAIN_WHOLE, 3, {0x1010, 0x1110, 0x1210}}, /* a b c */
	{CHAIN_WHOLE, 2, {0x1010, 0x1110}},	    /* a b */
	{CHAIN_TOO_DEEP, 2, {0x1110, 0x1210}},	    /* b c */
	{CHAIN_WHOLE, 1, {0x1310}},		    /* d */
	{CHAIN_WHOLE, 2, {0x9000, 0x1010}},	    /* ? a */
	{CHAIN_WHOLE, 0, {0}},
	/* a return address at the end of a, which is b's first byte; then b */
	{CHAIN_WHOLE, 2, {0x1100, 0x1100}},
};

#define CHAINS (sizeof(chains) / sizeof(chains[0]))

struct fixture {
	struct model model;
	struct measure measure;
	struct filter *filter;
	regex_t parent, symbol;
	struct filter_rules rules;
	uint64_t counts[CHAINS];
	uint32_t stack[CHAINS], domain[CHAINS], parents[64];
	uint64_t address[64];
	struct samples_batch batch;
};

static int fixture_setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	uint32_t next = SAMPLES_ROOTS;

	for (size_t i = 0; i < CHAINS; i++) {
		uint32_t node = chains[i].root;

		for (unsigned int j = 0; j < chains[i].depth; j++) {
			fixture->parents[next] = node;
			fixture->address[next] = chains[i].address[j];
			node = next++;
		}
		fixture->stack[i] = node;
		fixture->counts[i] = 1u << i;
	}
	fixture->batch = (struct samples_batch){.count = CHAINS,
						.nodes = next,
						.stack = fixture->stack,
						.domain = fixture->domain,
						.parent = fixture->parents,
						.address = fixture->address};
	*state = fixture;
	return model_init(&fixture->model, "0000000000001000 0000000000000100 T a\n"
					   "0000000000001100 0000000000000100 T b\n"
					   "0000000000001200 0000000000000100 T c\n"
					   "0000000000001300 0000000000000100 T d\n");
}

static int fixture_teardown(void **state)
{
	struct fixture *fixture = *state;

	if (fixture->rules.parent)
		regfree(&fixture->parent);
	if (fixture->rules.symbol)
		regfree(&fixture->symbol);
	filter_free(fixture->filter);
	model_free(&fixture->model);
	free(fixture);
	return 0;
}

/* Filters the chains with these rules; returns the sum of the matching chains' counts,
 * each a bit. */
static uint64_t filter_chains(struct fixture *fixture, const char *parent,
			      const char *symbol, uint32_t depth)
{
	uint64_t counts[CHAINS];

	memcpy(counts, fixture->counts, sizeof(counts));
	fixture->measure.counts = counts;
	fixture->measure.total = (1u << CHAINS) - 1;
	if (parent)
		assert_int_equal(regcomp(&fixture->parent, parent, REG_EXTENDED), 0);
	if (symbol)
		assert_int_equal(regcomp(&fixture->symbol, symbol, REG_EXTENDED), 0);
	fixture->rules = (struct filter_rules){
		.parent = parent ? &fixture->parent : NULL,
		.symbol = symbol ? &fixture->symbol : NULL,
		.max_depth = depth,
	};
	fixture->filter = filter_new(&fixture->rules, fixture->model.frames);
	assert_non_null(fixture->filter);
	assert_int_equal(stacks_find(fixture->model.stacks, &fixture->batch, counts), 0);
	assert_int_equal(filter_batch(fixture->filter, fixture->model.stacks,
				      &fixture->measure, CHAINS),
			 0);
	assert_int_equal(stacks_count(fixture->model.stacks, counts, CHAINS), 0);
	for (size_t i = 0; i < CHAINS; i++)
		assert_int_equal(counts[i] == 0,
				 fixture->model.stacks->chains[i] == TREE_NONE);
	return fixture->measure.total;
}

static void parent_filters_match_callers(void **state)
{
	assert_int_equal(filter_chains(*state, "^a$", NULL, 0), 0x43);
}

static void symbol_filters_match_callers_and_sampled_functions(void **state)
{
	assert_int_equal(filter_chains(*state, NULL, "^[ad]$", 0), 0x5b);
}

static void functions_without_name_match_unresolved(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(filter_chains(fixture, NULL, "^\\[unresolved]$", 0), 0x30);
	assert_true(filter_shows(fixture->filter, FRAMES_EMPTY_CHAIN));
}

static void a_sample_must_match_both_filters(void **state)
{
	assert_int_equal(filter_chains(*state, "b|resolved", "a|c", 0), 0x15);
}

/* The nodes visited by calls_walk(), as text. */
struct writing {
	struct recorded *recorded;
	struct frames *frames;
	char path[64];
	FILE *out;
};

static void write_chain(void *arg, uint32_t function, uint64_t count)
{
	struct writing *writing = arg;

	fprintf(writing->out, "%s%s %x\n", writing->path,
		frames_function_name(writing->frames, function), (unsigned int)count);
}

static void begin_domain(void *arg, uint32_t function)
{
	(void)arg;
	(void)function;
}

static void add_function(void *arg, uint32_t function, uint64_t count)
{
	struct writing *writing = arg;

	(void)count;
	strcat(writing->path, frames_function_name(writing->frames, function));
	strcat(writing->path, ";");
}

static void drop_function(void *arg, uint32_t function)
{
	struct writing *writing = arg;
	size_t length = strlen(frames_function_name(writing->frames, function)) + 1;

	writing->path[strlen(writing->path) - length] = 0;
}

static void expect_calls(struct fixture *fixture, bool inverted, const char *wanted)
{
	struct writing writing = {.frames = fixture->model.frames};
	struct calls_visitor visitor = {write_chain, begin_domain, add_function,
					drop_function, &writing};
	struct calls *calls = calls_of(fixture->model.stacks, fixture->model.frames,
				       inverted);
	char *text;
	size_t size;

	assert_non_null(calls);
	writing.out = open_memstream(&text, &size);
	calls_walk(calls, &visitor);
	calls_free(calls);
	fclose(writing.out);
	assert_string_equal(text, wanted);
	free(text);
}

static void chains_are_cut_to_their_innermost_frames(void **state)
{
	assert_int_equal(filter_chains(*state, NULL, NULL, 2), 0x7f);
	/* The end of a chain is part of the node: "b c" is two nodes with one name. */
	expect_calls(*state, false,
		     "0x9000;a 10\n"
		     "[no call chain] 20\n"
		     "a;b 42\n"
		     "b;c 5\n"
		     "d 8\n");
}

static void filters_apply_before_chains_are_cut(void **state)
{
	assert_int_equal(filter_chains(*state, "a", NULL, 1), 0x43);
	expect_calls(*state, false, "b 42\nc 1\n");
}

static void calls_can_be_inverted(void **state)
{
	assert_int_equal(filter_chains(*state, NULL, NULL, 0), 0x7f);
	expect_calls(*state, true,
		     "[no call chain] 20\n"
		     "a;0x9000 10\n"
		     "b;a 42\n"
		     "c;b 4\n"
		     "c;b;a 1\n"
		     "d 8\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_windows_are_in_seconds_or_percent),
		cmocka_unit_test(time_windows_by_the_clock),
		TEST(parent_filters_match_callers),
		TEST(symbol_filters_match_callers_and_sampled_functions),
		TEST(functions_without_name_match_unresolved),
		TEST(a_sample_must_match_both_filters),
		TEST(chains_are_cut_to_their_innermost_frames),
		TEST(filters_apply_before_chains_are_cut),
		TEST(calls_can_be_inverted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

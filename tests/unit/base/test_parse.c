/* SPDX-License-Identifier: BSD-3-Clause */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/parse.h"

static void numbers_are_whole_and_within_limits(void **state)
{
	static const char *const wrong[] = {
		"",   "0",   "11",  "-1",  "+1",  " 1",
		"1 ", "0x1", "1.0", "ten", "1e0", "99999999999999999999999"};
	uint64_t number = 77;

	(void)state;
	assert_int_equal(parse_number("1", 1, 10, &number), 0);
	assert_int_equal(number, 1);
	assert_int_equal(parse_number("10", 1, 10, &number), 0);
	assert_int_equal(number, 10);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse_number(wrong[i], 1, 10, &number), -1);
	assert_int_equal(number, 10);
}

static void times_are_seconds_or_have_a_unit(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} right[] = {{"1", 1000000000},
		     {"0.5", 500000000},
		     {".25", 250000000},
		     {"2.5", 2500000000},
		     {"0.000000001", 1},
		     {"1.0000000019", 1000000001},
		     {"007", 7000000000},
		     {"3153599999", 3153599999000000000},
		     {"10s", 10000000000},
		     {"1.5ms", 1500000},
		     {"2m", 120000000000},
		     {"0.5h", 1800000000000},
		     {"36499d", 3153513600000000000}};
	static const char *const wrong[] = {"",
					    "0",
					    "0.0",
					    ".",
					    "1.",
					    "-1",
					    "1sec",
					    "1e3",
					    "1,5",
					    "1..5",
					    "3153600000",
					    "99999999999999999999",
					    "s",
					    "ms",
					    "0ms",
					    "0.0000001ms",
					    "10 s",
					    "36500d",
					    "1S",
					    "-1s",
					    "99999999999999999999999999999999999999s"};
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		assert_int_equal(parse_time(right[i].text, &ns), 0);
		assert_int_equal(ns, right[i].ns);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse_time(wrong[i], &ns), -1);
}

static void percentages_are_limited_to_0_01_to_100(void **state)
{
	static const char *const wrong[] = {"0", "0.009", "100.1", "101", "5%", "-5", ""};
	double part;

	(void)state;
	assert_int_equal(parse_percent("5", &part), 0);
	assert_true(part > 0.0499999 && part < 0.0500001);
	assert_int_equal(parse_percent("100", &part), 0);
	assert_true(part == 1);
	assert_int_equal(parse_percent("0.01", &part), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse_percent(wrong[i], &part), -1);
}

static void lists_have_numbers_and_ranges(void **state)
{
	static const char *const wrong[] = {
		"",	",",  "1,", ",1", "4",	 "1-4", "2-1",
		"1--2", "-1", "1-", "a",  "1;2", "1 2", "0-99999999999999999999"};
	bool set[4] = {false};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(parse_list(wrong[i], set, 4), -1);
		assert_false(set[0] || set[1] || set[2] || set[3]);
	}
	assert_int_equal(parse_list("0,2-3", set, 4), 0);
	assert_true(set[0] && !set[1] && set[2] && set[3]);
	assert_int_equal(parse_list("1", set, 4), 0);
	assert_true(set[1]);
}

static void events_have_perfs_names(void **state)
{
	static const char *const wrong[] = {"",
					    "cycle",
					    "cycles:",
					    "cycles:H",
					    "cycles:GG",
					    "r",
					    "rxyz",
					    ":G",
					    "cycles ",
					    "r12 ",
					    "r11112222333344445",
					    "page-faults"};
	struct event_kind kind;
	struct error err;

	(void)state;
	assert_int_equal(parse_event("cycles:G", &kind, &err), 0);
	assert_string_equal(kind.name, "cycles:G");
	assert_int_equal(kind.type, PERF_TYPE_HARDWARE);
	assert_int_equal(kind.config, PERF_COUNT_HW_CPU_CYCLES);
	assert_true(kind.is_guest_only);
	assert_int_equal(parse_event("cache-misses", &kind, &err), 0);
	assert_int_equal(kind.config, PERF_COUNT_HW_CACHE_MISSES);
	assert_false(kind.is_guest_only);
	assert_int_equal(parse_event("task-clock", &kind, &err), 0);
	assert_int_equal(kind.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(kind.config, PERF_COUNT_SW_TASK_CLOCK);
	assert_int_equal(parse_event("rC0fFee1122334455:G", &kind, &err), 0);
	assert_int_equal(kind.type, PERF_TYPE_RAW);
	assert_int_equal(kind.config, 0xC0fFee1122334455);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse_event(wrong[i], &kind, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_whole_and_within_limits),
		cmocka_unit_test(times_are_seconds_or_have_a_unit),
		cmocka_unit_test(percentages_are_limited_to_0_01_to_100),
		cmocka_unit_test(lists_have_numbers_and_ranges),
		cmocka_unit_test(events_have_perfs_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load/window.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"

#define BILLION	   1000000000u
#define WHOLE	   ((uint64_t)100 * BILLION) /* in billionths of a percent */
#define MAX_SECOND (100ull * 365 * 24 * 3600)

static int parse_end(const char *text, size_t length, struct window_end *end)
{
	char copy[64];

	*end = (struct window_end){.given = length > 0};
	if (!length)
		return 0;
	if (length >= sizeof(copy))
		return -1;
	snprintf(copy, sizeof(copy), "%.*s", (int)length, text);
	end->is_percent = copy[length - 1] == '%';
	if (end->is_percent)
		copy[length - 1] = 0;
	if (parse_billionths(copy, end->is_percent ? 101 : MAX_SECOND, &end->value) < 0)
		return -1;
	return end->is_percent && end->value > WHOLE ? -1 : 0;
}

int window_parse(const char *text, struct window *window)
{
	size_t length = strcspn(text, ",");
	struct window parsed;

	if (text[length] != ',' || parse_end(text, length, &parsed.from) < 0 ||
	    parse_end(text + length + 1, strlen(text + length + 1), &parsed.to) < 0 ||
	    (!parsed.from.given && !parsed.to.given))
		return -1;
	if (parsed.from.given && parsed.to.given &&
	    parsed.from.is_percent == parsed.to.is_percent &&
	    parsed.from.value >= parsed.to.value)
		return -1;
	*window = parsed;
	return 0;
}

bool window_has_percent(const struct window *window)
{
	return window->from.is_percent || window->to.is_percent;
}

static uint64_t place(const struct window_end *end, uint64_t start, uint64_t length)
{
	uint64_t after = end->value;

	if (end->is_percent)
		after = (uint64_t)((unsigned __int128)length * end->value / WHOLE);
	return after < UINT64_MAX - start ? start + after : UINT64_MAX;
}

void window_place(const struct window *window, uint64_t start, uint64_t length,
		  uint64_t *from, uint64_t *to)
{
	bool is_end = window->to.is_percent && window->to.value == WHOLE;

	*from = window->from.value ? place(&window->from, start, length) : 0;
	*to = window->to.given && !is_end ? place(&window->to, start, length)
					  : UINT64_MAX;
}
